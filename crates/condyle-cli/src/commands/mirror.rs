//! `condyle mirror`.

use condyle::edit::{Mirror, fit};

use super::motions::print_fitted;
use super::transform::one;
use super::{Answer, write_out};
use crate::args::Mirror as Args;
use crate::output::Failure;

pub(super) fn run(args: &Args) -> Result<Answer, Failure> {
    let mut motion = one(&args.files, &args.reading.options())?;
    let failed = |error: condyle::edit::MirrorError| {
        let help = "docs/anatomy.md lists the names that are known";
        Failure::file(&motion.path, error.to_string(), help)
    };
    let mut mirror = Mirror::new(&motion.file.skeleton).map_err(failed)?;
    if let Some(axis) = args.standing.up {
        mirror = mirror.on(axis.ground());
    }
    if args.in_place {
        mirror = mirror.in_place();
    }
    let mut mirrored = mirror.apply(&motion.clip).map_err(failed)?;
    print_fitted(fit(&motion.file.skeleton, &mut mirrored), &motion.file.skeleton);
    motion.file.clip = Some(mirrored);
    write_out(&motion.file, &args.output, &args.writing)
}
