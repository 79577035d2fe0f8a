//! Pages and pictures of anything: well formed, whatever names, limits and numbers are in it.

use arbitrary::{Result, Unstructured};
use condyle::anatomy::Anatomy;
use condyle::edit::page::{SeamView, html};
use condyle::edit::{Facing, Keep, Method, Overlap, UsualJumps, connect};
use condyle::limits::Limit;
use condyle::picture::{Characters, Figures, characters, of_joint, of_rig};
use condyle::report::{self, About};
use condyle::rig::Source;

use super::limits::number;
use super::markup::{check_page, well_formed};
use super::moving::{Moving, rig};

/// A rig with any limits, and motion that may be outside of it.
pub fn pages(data: &[u8]) {
    let _too_short = pages_of(&mut Unstructured::new(data));
}

fn text(u: &mut Unstructured<'_>) -> Result<String> {
    let count = u.int_in_range(0..=12)?;
    let bytes = u.bytes(count)?;
    Ok(String::from_utf8_lossy(bytes).into_owned())
}

fn pages_of(u: &mut Unstructured<'_>) -> Result<()> {
    let moving = Moving::new(u, 5, 30)?;
    let Moving { skeleton, clip } = &moving;
    let mut rig = rig(u, skeleton)?;
    let names: Vec<String> = rig.joints.iter().map(|(name, _)| name.to_owned()).collect();
    for name in names {
        let (why, note) = (text(u)?, text(u)?);
        let joint = rig.joints.get_mut(&name).expect("it is there");
        joint.why = Some(why);
        joint.notes.push(note);
        joint.source = Some(Source::Estimated);
        joint.confidence = Some(number(u)?);
        joint.samples = u.arbitrary()?;
        joint.rejected = u.arbitrary()?;
        well_formed(&of_joint(&name, joint).expect("it can be prepared"));
        let figures = Figures::of(&joint.limit, joint.center).expect("it can be prepared");
        assert!(figures.rest_excess.radians() >= 0.0);
        if let Limit::SwingTwist(of) = &joint.limit {
            for set in [Characters::Braille, Characters::Ascii] {
                let columns = usize::from(u.int_in_range(0..=60_u8)?);
                let _ = characters(of, columns, set).expect("it can be prepared");
            }
        }
    }
    well_formed(&of_rig(&text(u)?, &rig).expect("it can be prepared"));
    let name = text(u)?;
    let take = report::Take { name: &name, skeleton, clip };
    let about =
        About { title: text(u)?, facts: vec![(text(u)?, text(u)?)], warnings: vec![text(u)?] };
    let anatomy = Anatomy::of(skeleton);
    check_page(&report::html(&rig, &[take, take], anatomy.as_ref(), &about));
    seam(u, &moving)
}

fn seam(u: &mut Unstructured<'_>, moving: &Moving) -> Result<()> {
    let Moving { skeleton, clip } = moving;
    let facing = Facing::of(skeleton);
    let at = Overlap { first: 3, second: 1, frames: 2 };
    let clips = [clip, clip];
    let joined = connect(skeleton, &facing, clips, at, Keep::First, Method::default());
    let Ok(joined) = joined else { return Ok(()) };
    let (a, b) = (text(u)?, text(u)?);
    let usual = UsualJumps::of(&[clip]);
    let view = SeamView {
        names: [&a, &b],
        method: "blend",
        window: at,
        first_last: joined.first_last,
        made: joined.made.clone(),
        from_frame: joined.first_last,
        to_frame: joined.second_first,
        distance: number(u)?,
        unit: "°",
        matrix: None,
        worst: usual.worst_across(&joined.clip, &joined.made),
        usual: &usual,
    };
    check_page(&html(skeleton, &facing, &joined.clip, &[view]));
    Ok(())
}
