//! `condyle mirror`.

use std::path::Path;

use condyle::edit::{Mirror, fit};
use condyle::skeleton::JointIndex;

use super::each::{Each, Told};
use super::figure_axes::axes_of;
use super::motions::{Motion, motion_of, print_fitted};
use super::{Answer, write_out};
use crate::args::Mirror as Args;
use crate::output::{Failure, print_warning, some_of};

pub(super) fn run(args: &Args) -> Result<Answer, Failure> {
    let each = Each::of(&args.files, &args.output, &args.reading, &args.writing);
    each.run(|path, read, output| {
        let answer = mirror(args, motion_of(path, read)?, output)?;
        Ok((answer, Told::Written))
    })
}

fn mirror(args: &Args, mut motion: Motion, output: &Path) -> Result<Answer, Failure> {
    let failed = |error: condyle::edit::MirrorError| {
        let help =
            "condyle anatomy shows what is known of them; --map takes a table of their names";
        Failure::file(&motion.path, error.to_string(), help)
    };
    let axes = axes_of(&motion.path, &motion.file.skeleton, &motion.clip, &args.standing)?;
    let mut mirror = Mirror::by(&motion.file.skeleton, axes).map_err(failed)?;
    let name = |j: &JointIndex| motion.file.skeleton[*j].name.as_str();
    let unpaired = mirror.unpaired(&motion.clip);
    if !unpaired.is_empty() {
        let names: Vec<&str> = unpaired.iter().map(name).collect();
        let (has, them) = if names.len() == 1 { ("has", "it") } else { ("have", "them") };
        print_warning(&format!(
            "{}: {} {has} no counterpart on the other side, so that the limb that hangs on {them} is mirrored \
             wrongly; condyle anatomy SKELETON -o MAP.json writes a table to fill in, which --map takes",
            motion.path.display(),
            some_of(&names)
        ));
    }
    if args.in_place {
        mirror = mirror.in_place();
    }
    let mut mirrored = mirror.apply(&motion.clip).map_err(failed)?;
    print_fitted(fit(&motion.file.skeleton, &mut mirrored), &motion.file.skeleton);
    motion.file.clip = Some(mirrored);
    write_out(&motion.file, output, &args.writing)
}
