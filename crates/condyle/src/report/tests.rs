//! The page is judged by reading its text again, and angles by the rotations they were made from.

use std::f64::consts::PI;

use glam::DVec3;

use super::plot::over_time;
use super::series::Series;
use super::{About, Take, html};
use crate::anatomy::Anatomy;
use crate::estimate::{self, EstimateOptions, estimate};
use crate::limits::{
    EulerBox, Limit, SwingLimit, SwingTwistLimit, TwistBounds, TwistLimit, TwistOffset,
};
use crate::math::{Angle, Arc, EulerOrder, Rotation, Rotations, Swing, SwingAxes, SwingTwist};
use crate::motion::{Clip, FrameRate, KeyTimes, Track};
use crate::picture::Figures;
use crate::picture::tests::{limit_of, rig as rig_of_all_kinds, well_formed};
use crate::rig::{End, EndOf, JointKind, LeftOut, Rig, RigJoint, Source};
use crate::skeleton::{Joint, Skeleton};
use crate::synth::{Figure, Options, Rng, Synth};

fn deg(d: f64) -> Angle {
    Angle::from_degrees(d)
}

fn arc(min: f64, max: f64) -> Arc {
    Arc::from_degrees(min, max).unwrap()
}

/// The page as XML, without what is not.
#[track_caller]
fn check(page: &str) {
    crate::picture::document::tests::check_policy(page, 1);
    let rest = page.strip_prefix("<!DOCTYPE html>\n").expect("a page");
    let (head, rest) = rest.split_once("<style>").unwrap();
    let (_, rest) = rest.split_once("</style>").unwrap();
    let (body, rest) = rest.split_once("<script>").unwrap();
    let (_, end) = rest.split_once("</script>").unwrap();
    let xml = format!("{head}{body}{end}");
    assert!(well_formed(&xml) > 20);
    // Numbers in pictures are numbers.
    for part in body.split("<svg").skip(1) {
        let svg = part.split("</svg>").next().unwrap();
        for tag in svg.split('<').skip(1) {
            let values = tag.split('"').skip(1).step_by(2);
            for value in values {
                assert!(!value.contains("NaN") && !value.contains("inf"), "<{tag}");
            }
        }
    }
    for odd in ["http://", "https://", "src=", "@import", "url("] {
        let allowed = if odd.starts_with("http") { body.matches("<bdi>").count() } else { 0 };
        let found = body.matches(odd).count();
        assert!(found == 0 || allowed > 0, "{odd}: the page needs nothing from elsewhere");
    }
}

/// A chain of joints below a root.
fn chain(names: &[&str]) -> Skeleton {
    let mut skeleton = Skeleton::new();
    let mut at = skeleton.add_root(Joint::new("Root", DVec3::ZERO)).unwrap();
    for name in names {
        at = skeleton.add(at, Joint::new(*name, DVec3::Y)).unwrap();
    }
    skeleton
}

/// The root stands still, the others turn by these.
fn clip(columns: &[Vec<Rotation>], frames: usize) -> Clip {
    let mut tracks = vec![Track::constant(Rotation::IDENTITY, DVec3::ZERO)];
    for column in columns {
        tracks.push(Track::turning(column.iter().copied().collect::<Rotations>(), DVec3::Y));
    }
    Clip::new(frames, FrameRate::from_fps(120.0).unwrap(), tracks).unwrap()
}

fn human(frames: usize) -> (Synth, Rig) {
    let options = Options { frames, noise: deg(0.3), ..Options::default() };
    let synth = Synth::generate(&Figure::human(), &options, 3).unwrap();
    let take = estimate::Take { skeleton: &synth.skeleton, clip: &synth.clip };
    let rig = estimate(&[take], &EstimateOptions::default()).unwrap().into_rig();
    (synth, rig)
}

fn page_of(synth: &Synth, rig: &Rig) -> String {
    let take = Take { name: "synth.bvh", skeleton: &synth.skeleton, clip: &synth.clip };
    html(rig, &[take], Anatomy::of(&synth.skeleton).as_ref(), &About::default())
}

#[test]
fn a_page_is_well_formed_complete_and_the_same_each_time() {
    let (synth, rig) = human(600);
    let page = page_of(&synth, &rig);
    check(&page);
    assert_eq!(page, page_of(&synth, &rig));
    for (name, joint) in rig.joints.iter() {
        assert!(page.contains(&format!("<bdi>{name}</bdi>")), "{name}");
        if let Some(why) = &joint.why {
            assert!(page.contains(&crate::picture::svg::Escaped(why).to_string()), "{name}: {why}");
        }
    }
    // Every link leads somewhere.
    for link in page.split("href=\"#").skip(1) {
        let id = link.split('"').next().unwrap();
        assert!(page.contains(&format!("id=\"{id}\"")), "{id}");
    }
    let cards = rig.joints.iter().filter(|(_, j)| j.kind != JointKind::Free).count();
    assert_eq!(page.matches("<section class=\"card\"").count(), cards);
    assert!(page.contains("Left and right") && page.contains("Sources of the published ranges"));
}

/// Angles come back as they went in (B2, A3), with any centre and rest.
#[test]
fn channels_are_the_angles_that_the_motion_was_made_of() {
    let mut rng = Rng::new(5);
    let mut turn = || {
        let axis = rng.direction();
        Rotation::from_axis_angle(axis, deg(rng.between(0.0, 170.0))).unwrap()
    };
    let [rest, center] = [turn(), turn()];
    let mut rng = Rng::new(6);
    let frames = 200;
    let axes = [rng.direction(), rng.direction()];
    let swing_axes = SwingAxes::new(rng.direction(), None).unwrap();
    let about = |axis, angle| Rotation::from_axis_angle(axis, Angle::from_radians(angle)).unwrap();
    let wide = arc(-179.0, 179.0);
    let order = EulerOrder::ZYZ;
    let arcs = [wide, arc(1.0, 179.0), wide];
    let limits = [
        Limit::Hinge { axis: axes[0], arc: wide },
        Limit::Universal { axes, arcs: [wide, wide] },
        Limit::SwingTwist(SwingTwistLimit { axes: swing_axes, ..Default::default() }),
        Limit::EulerBox(EulerBox { order, arcs }),
    ];
    let angles: Vec<[f64; 3]> = (0..frames)
        .map(|_| [rng.between(-3.1, 3.1), rng.between(0.02, 3.1), rng.between(-3.1, 3.1)])
        .collect();
    for (i, limit) in limits.into_iter().enumerate() {
        let m = |[a, b, c]: [f64; 3]| match i {
            0 => about(axes[0], a),
            1 => about(axes[0], a) * about(axes[1], b),
            2 => {
                let (sin, cos) = crate::math::trig::sin_cos(a);
                let swing = Swing::from_radians(0.9 * b * cos, 0.9 * b * sin);
                SwingTwist { swing, twist: Angle::from_radians(c) }
                    .to_rotation(&swing_axes)
                    .unwrap()
            }
            _ => order.to_rotation([a, b, c].map(Angle::from_radians)).unwrap(),
        };
        let expected = |[a, b, c]: [f64; 3]| match i {
            0 => vec![a],
            1 => vec![a, b],
            2 => {
                let (sin, cos) = crate::math::trig::sin_cos(a);
                vec![0.9 * b * cos, 0.9 * b * sin, c]
            }
            _ => vec![a, b, c],
        };
        let skeleton = chain(&["J"]).with_rests(|j| if j.name == "J" { rest } else { j.rest });
        let column: Vec<Rotation> = angles.iter().map(|a| rest * center * m(*a)).collect();
        let clip = clip(&[column], frames);
        let joint = RigJoint { kind: JointKind::Ball, center, limit, ..RigJoint::default() };
        let figures = Figures::of(&joint.limit, center).unwrap();
        let take = Take { name: "", skeleton: &skeleton, clip: &clip };
        let series = Series::of("J", &joint, &figures, &[take]);
        for (frame, angle) in angles.iter().enumerate() {
            let wanted = expected(*angle);
            assert_eq!(series.channels.len(), wanted.len());
            for (channel, wanted) in series.channels.iter().zip(wanted) {
                let off = Angle::from_radians(channel.values[frame] - wanted).wrapped().radians();
                assert!(
                    off.abs() < 1e-9,
                    "{i} {}: {} {wanted}",
                    channel.name,
                    channel.values[frame]
                );
            }
        }
    }
}

/// A limit whose twist counts from another zero: the range that is shown is that of the limit, and the
/// curve is in it where, and only where, the limit holds the frame (B8).
#[test]
fn twist_is_shown_from_the_zero_of_the_limit() {
    let mut rng = Rng::new(7);
    let axes = SwingAxes::new(rng.direction(), None).unwrap();
    let range = arc(-35.0, 40.0);
    let from = Rotation::from_axis_angle(axes.x(), deg(50.0)).unwrap() * axes.bone();
    let limit = Limit::SwingTwist(SwingTwistLimit {
        axes,
        swing: SwingLimit::Ellipse { rx: deg(60.0), ry: deg(70.0) },
        twist: TwistLimit { bounds: TwistBounds::Arc(range), offset: TwistOffset::From(from) },
    });
    let figures = Figures::of(&limit, Rotation::IDENTITY).unwrap();
    let shown = figures.swing.unwrap();
    assert!((shown.twist.min().degrees() + 35.0).abs() < 1e-9, "{shown:?}");
    assert!((shown.twist.max().degrees() - 40.0).abs() < 1e-9, "{shown:?}");
    assert!((shown.twist_width[1].degrees() - 75.0).abs() < 1e-9, "{shown:?}");
    // Swings well inside, so that twist alone decides.
    let mut turn = || {
        let swing = Swing::from_radians(rng.between(-0.6, 0.6), rng.between(-0.6, 0.6));
        let twist = Angle::from_radians(rng.between(-1.5, 1.5));
        SwingTwist { swing, twist }.to_rotation(&axes).unwrap()
    };
    let column: Vec<Rotation> = (0..500).map(|_| turn()).collect();
    let skeleton = chain(&["J"]);
    let clip = clip(std::slice::from_ref(&column), column.len());
    let joint = RigJoint { kind: JointKind::Ball, limit, ..RigJoint::default() };
    let take = Take { name: "", skeleton: &skeleton, clip: &clip };
    let series = Series::of("J", &joint, &figures, &[take]);
    let prepared = joint.limit.prepare().unwrap();
    let mut held = 0;
    for (m, twist) in column.iter().zip(&series.channels[2].values) {
        let inside = prepared.contains(*m);
        assert_eq!(range.contains(Angle::from_radians(*twist)), inside, "{twist}");
        held += usize::from(inside);
    }
    assert!(held > 100 && held < 400, "{held}");
}

#[test]
fn frames_that_were_left_out_are_crosses_and_not_in_the_curve() {
    let frames: u32 = 3000;
    let mut angles: Vec<f64> =
        (0..frames).map(|i| 40.0 * crate::math::trig::sin(f64::from(i) / 50.0)).collect();
    angles[777] = 120.0;
    let column: Vec<Rotation> = angles.iter().map(|a| Rotation::about_x(deg(*a))).collect();
    let skeleton = chain(&["J"]);
    let clip = clip(&[column], frames as usize);
    let limit = Limit::Hinge { axis: DVec3::X, arc: arc(-40.0, 40.0) };
    let left_out = vec![LeftOut { take: clip.content_hash(), frames: vec![777] }];
    let joint = RigJoint { kind: JointKind::Hinge, limit, left_out, ..RigJoint::default() };
    let figures = Figures::of(&joint.limit, joint.center).unwrap();
    let take = Take { name: "", skeleton: &skeleton, clip: &clip };
    let series = Series::of("J", &joint, &figures, &[take]);
    let marked: Vec<usize> = (0..frames as usize).filter(|i| series.left_out[*i]).collect();
    assert_eq!(marked, [777]);
    let (canvas, size) = over_time(&series).unwrap();
    let svg = canvas.embedded(size, "");
    let of = |class: &str| {
        let path = svg.split(&format!("class=\"{class}\" d=\"")).nth(1).unwrap();
        path.split('"').next().unwrap().to_owned()
    };
    assert_eq!(of("rp-cross").matches('M').count(), 1);
    // The extremes of the curve are those of the motion: the band's edges are at ±40°, 8 % of the half
    // inside of the panel, and columns of pixels keep their extremes.
    let curve = of("rp-curve");
    let ys: Vec<f64> = curve
        .split(['M', 'L', 'V'])
        .skip(1)
        .map(|p| p.trim_end_matches("h0").split(' ').next_back().unwrap().parse().unwrap())
        .collect();
    let (low, high) = ys.iter().fold((f64::MAX, f64::MIN), |(a, b), y| (a.min(*y), b.max(*y)));
    let edge = 84.0 * (0.08 / 2.16);
    assert!(
        (low - (20.0 + edge)).abs() < 0.1 && (high - (104.0 - edge)).abs() < 0.1,
        "{low} {high}"
    );
    assert!(curve.len() < 16 * 800, "{}", curve.len());
}

/// The page of a figure with one joint that bends by some degrees.
fn bending(name: &str, degrees: impl Fn(usize) -> f64) -> String {
    let human = Figure::human();
    let skeleton = human.skeleton();
    let anatomy = Anatomy::of(skeleton).unwrap();
    let bends = skeleton.find(name).unwrap();
    let joint = anatomy.joint(bends).unwrap();
    let frames = 50;
    let tracks = skeleton.indices().map(|j| {
        if j != bends {
            return Track::constant(skeleton[j].rest, skeleton[j].offset_m);
        }
        let turn = |i: usize| joint.local_of([degrees(i), 0.0, 0.0].map(deg)).unwrap();
        Track::turning((0..frames).map(turn).collect(), skeleton[j].offset_m)
    });
    let clip = Clip::new(frames, FrameRate::from_fps(30.0).unwrap(), tracks.collect()).unwrap();
    let take = estimate::Take { skeleton, clip: &clip };
    let rig = estimate(&[take], &EstimateOptions::default()).unwrap().into_rig();
    let takes = [Take { name: "", skeleton, clip: &clip }];
    let page = html(&rig, &takes, Some(&anatomy), &About::default());
    check(&page);
    page
}

/// The knee of a figure bends by known angles, and the page has them against the published range.
#[test]
fn clinical_angles_are_compared_with_published_ranges() {
    let page = bending("LeftLeg", |i| 20.0 + i as f64);
    let card = page
        .split("<section class=\"card\"")
        .find(|c| c.contains("<h3><bdi>LeftLeg</bdi>"))
        .unwrap();
    assert!(card.contains("<bdi>left knee</bdi>"), "{card}");
    let row = card.split("<tr>").find(|r| r.contains("flexion (+), extension (−)")).unwrap();
    assert!(row.contains("<td>20° to 69°</td>"), "{row}");
    // (69 − 20) / 140
    // The source has no value for extension: the zero is that of the goniometer.
    assert!(row.contains("0°* to 140° <a") && row.contains("35 %"), "{row}");
    assert!(page.contains("<b>Little explored</b>"));
}

#[test]
fn both_ends_beyond_a_published_range_are_told_by_their_names() {
    let page = bending("LeftLeg", |i| -20.0 + 4.0 * i as f64);
    let at = page.find("<b>Beyond the published range</b>").unwrap();
    let told = page[at..].split("</li>").next().unwrap();
    // The farther one first.
    let flexion = told.find("(flexion 176°, published 140°)").unwrap_or_else(|| panic!("{told}"));
    assert!(told.find("(extension 20°, published 0°*)").unwrap() > flexion, "{told}");
    assert!(page.contains("<td>20° <small><bdi>extension</bdi></small><br/>36° <small>"));
}

/// What the page says first about something.
fn told_first<'p>(page: &'p str, what: &str) -> Option<&'p str> {
    let first = page.split("<section id=\"first\">").nth(1)?.split("</section>").next()?;
    first.split("<li>").find(|item| item.contains(&format!("<b>{what}</b>")))
}

#[test]
fn half_of_a_published_range_is_not_less_than_half() {
    // 70 of 140, and what rounds to that; then less.
    for (most, told) in [(70.0, false), (69.4, false), (69.2, true)] {
        let page = bending("LeftLeg", |i| most * i as f64 / 49.0);
        let mut cards = page.split("<section class=\"card\"");
        let card = cards.find(|c| c.contains("<h3><bdi>LeftLeg</bdi>")).unwrap();
        let row = card.split("<tr>").find(|r| r.contains("flexion (+), extension (−)")).unwrap();
        assert_eq!(row.contains("50 %"), !told, "{row}");
        // The others hold still, and are told before it: 14 of them.
        let little = told_first(&page, "Little explored").unwrap();
        assert_eq!(little.contains(" and 3 more."), told, "{most} {little}");
        assert_eq!(little.contains(" and 2 more."), !told, "{most} {little}");
    }
}

/// Twelve of them are told: they should be the worst.
#[test]
fn of_each_doubt_the_worst_come_first() {
    let names: Vec<String> = (0..20).map(|i| format!("J{i:02}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let skeleton = chain(&names);
    let mut rig = Rig::from_skeleton(&skeleton);
    for (i, (_, joint)) in rig.joints.iter_mut().skip(1).enumerate() {
        // In no order: 7 and 20 have no common divisor.
        let bad = 1 + (i * 7) % 20;
        let from = 5.0 + bad as f64;
        joint.kind = JointKind::Hinge;
        joint.limit = Limit::Hinge { axis: DVec3::X, arc: arc(from, 90.0) };
        joint.judge_rest(Rotation::IDENTITY).unwrap();
        joint.confidence = Some(0.5 - 0.02 * bad as f64);
        joint.samples = Some(25 - bad as u64);
        joint.rejected = Some(bad as u64);
    }
    let page = html(&rig, &[], None, &About::default());
    check(&page);
    let worst = |what: &str, numbers: &[String]| {
        let item = told_first(&page, what).unwrap();
        let places: Vec<usize> = numbers.iter().map(|n| item.find(n).unwrap()).collect();
        assert!(places.is_sorted(), "{what}: {item}");
    };
    let twelve = || (9..=20).rev();
    worst(
        "Rest pose not allowed",
        &twelve().map(|bad| format!("({}°)", 5 + bad)).collect::<Vec<_>>(),
    );
    worst("Few samples", &twelve().map(|bad| format!("({})", 25 - bad)).collect::<Vec<_>>());
    worst("Left out as glitches", &twelve().map(|bad| format!("({bad})")).collect::<Vec<_>>());
    let sure: Vec<usize> = twelve()
        .map(|bad| {
            page.find(&format!("<b>Unsure</b> ({:.2})", 0.5 - 0.02 * f64::from(bad))).unwrap()
        })
        .collect();
    assert!(sure.is_sorted(), "{sure:?}");
}

#[test]
fn what_an_edited_limit_contradicts_is_not_on_the_page() {
    let (synth, mut rig) = human(200);
    let elbow = rig.joints.get_mut("LeftForeArm").unwrap();
    assert_eq!(elbow.rest_inside, Some(false));
    let Limit::Hinge { axis, arc: was } = elbow.limit else { panic!() };
    let end = |of, at| End { of, at, reached: None, visits: 2, interval: None, open: None };
    elbow.ends = vec![end(EndOf::Min, was.min()), end(EndOf::Max, was.max())];
    let before = page_of(&synth, &rig);
    for doubt in ["Rest pose not allowed", "Only bounds"] {
        assert!(told_first(&before, doubt).unwrap().contains("LeftForeArm"), "{doubt}");
    }
    let elbow = rig.joints.get_mut("LeftForeArm").unwrap();
    elbow.limit = Limit::Hinge { axis, arc: arc(0.0, 150.0) };
    elbow.confidence = Some(0.3);
    elbow.source = Some(Source::Edited);
    let page = page_of(&synth, &rig);
    let first = page.split("<section id=\"first\">").nth(1).unwrap();
    let first = first.split("</section>").next().unwrap();
    assert!(!first.contains("LeftForeArm"), "{first}");
    let card_in = |page: &str| {
        let mut cards = page.split("<section class=\"card\"");
        cards.find(|c| c.contains("<h3><bdi>LeftForeArm</bdi>")).unwrap().to_owned()
    };
    let card = card_in(&page);
    assert!(card.contains("rest pose inside") && !card.contains("class=\"ends\""), "{card}");
    assert!(card.contains("As it was estimated: "), "{card}");
    assert!(card.contains("edited") && !card.contains("edited since"), "{card}");
    // Not marked, but changed.
    rig.joints.get_mut("LeftForeArm").unwrap().source = Some(Source::Estimated);
    let card = card_in(&page_of(&synth, &rig));
    assert!(card.contains("estimated · edited since"), "{card}");
}

#[test]
fn ends_on_the_page_are_in_the_turn_of_their_range() {
    let (synth, mut rig) = human(60);
    let elbow = rig.joints.get_mut("LeftForeArm").unwrap();
    let Limit::Hinge { axis, .. } = elbow.limit else { panic!() };
    elbow.limit = Limit::Hinge { axis, arc: arc(170.0, 200.0) };
    let end = |of, at| End { of, at, reached: None, visits: 2, interval: None, open: None };
    elbow.ends = vec![end(EndOf::Min, deg(-190.0)), end(EndOf::Max, deg(-160.0))];
    let page = page_of(&synth, &rig);
    let mut cards = page.split("<section class=\"card\"");
    let card = cards.find(|c| c.contains("<h3><bdi>LeftForeArm</bdi>")).unwrap();
    assert!(card.contains("<td>170°</td>") && card.contains("<td>200°</td>"), "{card}");
    assert!(!card.contains("−190°"), "{card}");
}

#[test]
fn doubtful_published_values_have_a_star() {
    let page = bending("LowerBack", |i| i as f64);
    assert!(page.contains("−18.5°* to 55.5°* <a"), "the sum is published, not its parts");
    assert!(page.contains("constructed, three quarters of the sum, from A. A. White"));
    assert!(page.contains("<p class=\"small\">* No published value as it stands"));
}

#[test]
fn names_cannot_leave_their_place() {
    let names = [
        "<script>alert(1)</script>",
        "\u{202e}backwards",
        "a\"b'c&d",
        "",
        "👩‍🦽 Ünï\u{0}",
        "</title></style><b>",
    ];
    let long = "x".repeat(100_000);
    let skeleton = chain(&names.iter().copied().chain([long.as_str()]).collect::<Vec<_>>());
    let columns: Vec<Vec<Rotation>> = (0..names.len() + 1)
        .map(|k| (0..60).map(|i| Rotation::about_x(deg(f64::from(i) + k as f64))).collect())
        .collect();
    let clip = clip(&columns, 60);
    let take = estimate::Take { skeleton: &skeleton, clip: &clip };
    let mut rig = estimate(&[take], &EstimateOptions::default()).unwrap().into_rig();
    for (name, joint) in rig.joints.iter_mut() {
        joint.notes.push(format!("note of {name}"));
        joint.why = Some(name.to_owned());
        joint.confidence = Some(f64::NAN);
    }
    let takes = [Take { name: names[0], skeleton: &skeleton, clip: &clip }];
    let about = About {
        title: names[5].to_owned(),
        facts: vec![(names[0].to_owned(), names[2].to_owned())],
        warnings: vec![names[0].to_owned()],
    };
    let page = html(&rig, &takes, None, &about);
    check(&page);
    // The page's own, and no other.
    assert_eq!(page.matches("<script").count(), 1);
    assert_eq!(page.matches("</style>").count(), 1);
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    assert!(page.len() < 1_000_000, "{}", page.len());
}

/// Whatever there is to draw, numbers are numbers and the page is one.
#[test]
fn nothing_degenerate_breaks_the_page() {
    let about = About::default();
    let rate = |fps| FrameRate::from_fps(fps).unwrap();
    // No joints, no files.
    check(&html(&Rig::default(), &[], None, &about));
    // All shapes of limits, with and without motion that has nothing to do with them.
    let mut all = rig_of_all_kinds();
    let point = SwingLimit::Ellipse { rx: deg(0.0), ry: deg(0.0) };
    let point = RigJoint::new(JointKind::Ball, Limit::SwingTwist(limit_of(point)));
    all.joints.insert("nowhere", point);
    check(&html(&all, &[], None, &about));
    let names: Vec<String> = all.joints.iter().map(|(n, _)| n.to_owned()).collect();
    let skeleton = chain(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let half_turn = Rotation::from_axis_angle(DVec3::X, Angle::from_radians(PI)).unwrap();
    let mut rng = Rng::new(2);
    for frames in [1_usize, 2, 3, 400] {
        let columns: Vec<Vec<Rotation>> = (0..names.len())
            .map(|k| {
                (0..frames)
                    .map(|_| match k % 3 {
                        0 => Rotation::IDENTITY,
                        1 => half_turn,
                        _ => Rotation::from_axis_angle(
                            rng.direction(),
                            deg(rng.between(-180.0, 180.0)),
                        )
                        .unwrap(),
                    })
                    .collect()
            })
            .collect();
        let clip = clip(&columns, frames);
        let take = Take { name: "wild", skeleton: &skeleton, clip: &clip };
        let still = still_for(&skeleton, frames, rate(1e-9));
        let none = Clip::new(0, rate(1e12), still_for(&skeleton, 1, rate(30.0)).tracks().to_vec())
            .unwrap();
        let others = [
            take,
            Take { name: "still", skeleton: &skeleton, clip: &still },
            Take { name: "empty", skeleton: &skeleton, clip: &none },
            Take { name: "stranger", skeleton: &chain(&["Other"]), clip: &clip },
        ];
        check(&html(&all, &others[..1], None, &about));
        check(&html(&all, &others, None, &about));
        check(&html(&all, &others[2..3], None, &about));
    }
    // Keys at their own times.
    let keyed = Track::from_parts(
        [Rotation::IDENTITY, half_turn].into_iter().collect(),
        KeyTimes::At(vec![0.0, 0.5]),
        crate::math::Points::repeat(DVec3::Y, 1),
        KeyTimes::constant(),
    );
    let tracks = vec![Track::constant(Rotation::IDENTITY, DVec3::ZERO), keyed];
    let clip = Clip::new(20, rate(30.0), tracks).unwrap();
    let skeleton = chain(&["Knee"]);
    check(&html(&all, &[Take { name: "keys", skeleton: &skeleton, clip: &clip }], None, &about));
    // Fields that a document may have and an estimate has not.
    let odd = RigJoint {
        confidence: Some(f64::INFINITY),
        rest_inside: Some(false),
        rest_excess: Some(Angle::from_radians(f64::NAN)),
        noise: Some(Angle::from_radians(f64::NAN)),
        samples: Some(u64::MAX),
        rejected: Some(u64::MAX),
        limit: Limit::Hinge { axis: DVec3::ZERO, arc: Arc::FULL },
        ..RigJoint::new(JointKind::Hinge, Limit::Locked)
    };
    all.joints.insert("odd", odd);
    check(&html(&all, &[], None, &about));
}

fn still_for(skeleton: &Skeleton, frames: usize, rate: FrameRate) -> Clip {
    let tracks = skeleton.joints().iter().map(|j| Track::constant(j.rest, j.offset_m));
    Clip::new(frames, rate, tracks.collect()).unwrap()
}

#[test]
fn thousands_of_joints_make_a_page_of_bounded_size_that_says_what_it_leaves_out() {
    let mut rig = Rig::default();
    for i in 0..3000 {
        let limit = Limit::Hinge { axis: DVec3::X, arc: arc(0.0, 90.0) };
        let confidence = Some(if i == 900 { 0.1 } else { 0.9 });
        rig.joints.insert(
            format!("joint {i}"),
            RigJoint { kind: JointKind::Hinge, limit, confidence, ..RigJoint::default() },
        );
    }
    let page = html(&rig, &[], None, &About::default());
    check(&page);
    assert!(page.len() < 2_000_000, "{}", page.len());
    assert!(page.contains("2,000 more joints are not in the table."), "says so");
    assert!(page.contains("120 of 3,000 joints have a card below"), "says so");
    // The doubtful one has a card.
    assert!(page.contains("<h3><bdi>joint 900</bdi>"));
}

/// The bar: 31 joints and 10,000 frames in less than 3 MB. The worst case: all are balls that move all
/// over the place.
#[test]
fn ten_thousand_frames_of_31_balls_stay_below_three_megabytes() {
    let names: Vec<String> = (0..31).map(|i| format!("Ball{i}")).collect();
    let skeleton = chain(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let mut rng = Rng::new(4);
    let columns: Vec<Vec<Rotation>> = names
        .iter()
        .map(|_| {
            (0..10_000)
                .map(|_| {
                    Rotation::from_axis_angle(rng.direction(), deg(rng.between(0.0, 170.0)))
                        .unwrap()
                })
                .collect()
        })
        .collect();
    let part = |i: usize, n: usize| {
        let own = |column: &Vec<Rotation>| column[i * n..(i + 1) * n].to_vec();
        clip(&columns.iter().map(own).collect::<Vec<_>>(), n)
    };
    let parts = |n: usize| (0..10_000 / n).map(|i| part(i, n)).collect::<Vec<_>>();
    let [several, many] = [2500, 1000].map(parts);
    let clip = clip(&columns, 10_000);
    let take = estimate::Take { skeleton: &skeleton, clip: &clip };
    let rig = estimate(&[take], &EstimateOptions::default()).unwrap().into_rig();
    // The same in more than one file, with a colour for each.
    for clips in [several, many] {
        let take = |clip| Take { name: "wild", skeleton: &skeleton, clip };
        let page = html(&rig, &clips.iter().map(take).collect::<Vec<_>>(), None, &About::default());
        check(&page);
        assert!(page.len() < 3_000_000, "{} files: {}", clips.len(), page.len());
    }
    let take = Take { name: "wild", skeleton: &skeleton, clip: &clip };
    let page = html(&rig, &[take], None, &About::default());
    check(&page);
    assert!(page.len() < 3_000_000, "{}", page.len());
    assert!(page.matches("class=\"cl-seen\"").count() > 31 * 4, "dots in every picture");
}

/// A curve of a colour lies where its file is in time, and nowhere else.
#[test]
fn several_files_are_told_apart_by_colour() {
    let skeleton = chain(&["J"]);
    let mut rng = Rng::new(8);
    let mut column = || -> Vec<Rotation> {
        let turn = |_| Rotation::exp(rng.direction() * rng.between(0.0, 0.8)).unwrap();
        (0..300).map(turn).collect()
    };
    let clips: Vec<Clip> = (0..10).map(|_| clip(&[column()], 300)).collect();
    let name = |i: usize| format!("folder/take{i}.bvh");
    let names: Vec<String> = (0..10).map(name).collect();
    let page = |n: usize| {
        let of = |clip| estimate::Take { skeleton: &skeleton, clip };
        let all: Vec<estimate::Take<'_>> = clips[..n].iter().map(of).collect();
        let rig = estimate(&all, &EstimateOptions::default()).unwrap().into_rig();
        let takes = clips[..n].iter().zip(&names);
        let takes: Vec<Take<'_>> =
            takes.map(|(clip, name)| Take { name, skeleton: &skeleton, clip }).collect();
        let page = html(&rig, &takes, None, &About::default());
        check(&page);
        page
    };
    let one = page(1);
    assert!(
        !one.contains("rp-curve f") && !one.contains("cl-seen f") && !one.contains("class=\"key")
    );
    let three = page(3);
    for (i, colour) in ["f0", "f1", "f2"].into_iter().enumerate() {
        let class = format!("class=\"rp-curve {colour}\" d=\"");
        assert_eq!(three.matches(&class).count(), 3, "swings and twist");
        let path = three.split(&class).nth(1).unwrap().split('"').next().unwrap();
        let xs = path.split(['M', 'L']).skip(1).filter_map(|p| p.split(' ').next()?.parse().ok());
        let xs: Vec<f64> = xs.collect();
        let (low, high) = xs.iter().fold((f64::MAX, f64::MIN), |(a, b), x| (a.min(*x), b.max(*x)));
        // 784 pixels from 44 on, in three parts; a column is two pixels.
        let part = 784.0 / 3.0;
        assert!((low - (44.0 + part * i as f64)).abs() < 4.0, "{colour}: {low}");
        assert!((high - (44.0 + part * (i + 1) as f64)).abs() < 4.0, "{colour}: {high}");
        assert!(three.contains(&format!("class=\"cl-seen {colour}\"")));
        assert!(three.contains(&format!("<i class=\"spot {colour}\"></i> <bdi>take{i}.bvh</bdi>")));
    }
    assert!(!three.contains("rp-curve f3") && !three.contains("others</span>"));
    let ten = page(10);
    assert!(ten.contains("rp-curve f6") && ten.contains("rp-curve fo"));
    assert!(ten.contains("<i class=\"spot fo\"></i> 3 others"));
}
