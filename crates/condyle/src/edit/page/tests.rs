//! The page is judged by reading its text again.

use glam::DVec3;

use super::*;
use crate::edit::Ground;
use crate::edit::{Easing, Features, Keep, Method, Metric, Order, Query, connect, distance_matrix};
use crate::math::{Angle, Rotation, Rotations};
use crate::motion::{FrameRate, Track};
use crate::picture::tests::well_formed;
use crate::skeleton::{Joint, JointIndex};
use crate::synth::Gait;

/// The page as XML, without what is not, and the body of it.
#[track_caller]
fn check(page: &str, seams: usize) -> &str {
    document::tests::check_policy(page, 0);
    let rest = page.strip_prefix("<!DOCTYPE html>\n").expect("a page");
    let (head, rest) = rest.split_once("<style>").unwrap();
    let (_, body) = rest.split_once("</style>").unwrap();
    assert!(well_formed(&format!("{head}{body}")) > 10);
    assert_eq!(body.matches("<section ").count(), seams);
    for tag in body.split('<').skip(1) {
        let (inside, _) = tag.split_once('>').unwrap();
        for value in inside.split('"').skip(1).step_by(2).filter(|v| !v.starts_with("data:")) {
            assert!(!value.contains("NaN") && !value.contains("inf"), "<{inside}");
        }
        assert!(!inside.contains("-0\"") && !inside.contains("src="), "<{inside}");
        let address = inside.split("href=\"").nth(1).unwrap_or("#");
        assert!(address.starts_with('#') || address.starts_with("data:"), "<{inside}");
    }
    body
}

fn view<'a>(at: Overlap, out: &crate::edit::Connected, usual: &'a UsualJumps) -> SeamView<'a> {
    SeamView {
        names: ["walk.bvh", "run.bvh"],
        method: "blend",
        window: at,
        first_last: out.first_last,
        made: out.made.clone(),
        from_frame: out.first_last,
        to_frame: out.second_first,
        distance: 0.1,
        unit: "m",
        matrix: None,
        worst: usual.worst_across(&out.clip, &out.made),
        usual,
    }
}

fn gaits() -> (Skeleton, [Clip; 2]) {
    let rate = FrameRate::from_fps(100.0).unwrap();
    let (skeleton, walk) = Gait::default().generate(160, rate).unwrap();
    let run = Gait { speed_m_s: 3.0, steps_per_s: 2.8, down: 0.36, ..Gait::default() };
    let (_, run) = run.generate(158, rate).unwrap();
    (skeleton, [walk, run])
}

/// Classes of the poses in the strip, with their frames.
fn poses(body: &str) -> Vec<(usize, &str)> {
    let labels = body.split("aria-label=\"the pose in frame ").skip(1);
    labels
        .map(|l| {
            let (frame, class) = l.split_once('"').unwrap().0.split_once(", ").unwrap();
            (frame.parse().unwrap(), class)
        })
        .collect()
}

#[test]
fn every_method_has_a_page_of_bounded_size_that_is_the_same_each_time() {
    let (skeleton, [walk, run]) = gaits();
    let facing = Facing::of(&skeleton);
    let at = Overlap { first: 110, second: 20, frames: 30 };
    let features = Features::of(&skeleton, &walk, Metric::Position).unwrap();
    let other = features.like(&skeleton, &run).unwrap();
    let query = Query::new(&features, 0..30).unwrap();
    let matrix = distance_matrix(&query, 0..160, &other, 0..158, (128, 128)).unwrap();
    assert_eq!(matrix.distances.len(), 128 * 128);
    let usual = UsualJumps::of(&[&walk, &run]);
    let methods = [
        Method::Blend(Easing::Sine),
        Method::Interpolate { frames: 12, order: Order::Linear },
        Method::Interpolate { frames: 0, order: Order::Cubic },
        Method::Interpolate { frames: 400, order: Order::Cubic },
        Method::Inertialize { frames: 25 },
    ];
    for method in methods {
        for keep in [Keep::First, Keep::Second] {
            let out = connect(&skeleton, &facing, [&walk, &run], at, keep, method).unwrap();
            let seam = SeamView { matrix: Some(&matrix), ..view(at, &out, &usual) };
            let page = html(&skeleton, &facing, &out.clip, std::slice::from_ref(&seam));
            let body = check(&page, 1);
            assert!(page.len() < 250_000, "{method:?}: {}", page.len());
            assert_eq!(page, html(&skeleton, &facing, &out.clip, &[seam]));
            // The map, with its cross.
            assert_eq!(body.matches("<image ").count(), 1);
            assert_eq!(body.matches("\"sm-cross\"").count(), 1);
            // Poses are coloured by whose they are, with one of those that were made.
            let poses = poses(body);
            assert_eq!(poses.len(), 11);
            for (frame, class) in &poses {
                let whose = if *frame <= out.first_last {
                    "first"
                } else if out.made.contains(frame) {
                    "made"
                } else {
                    "second"
                };
                assert_eq!(*class, whose, "{method:?} {frame}");
            }
            assert!(out.made.is_empty() || poses.iter().any(|(_, class)| *class == "made"));
            assert!(["first", "second"].iter().all(|c| poses.iter().any(|(_, class)| class == c)));
        }
    }
}

#[test]
fn seams_have_a_section_each_and_names_stay_in_their_place() {
    let (skeleton, [walk, run]) = gaits();
    let facing = Facing::of(&skeleton);
    let at = Overlap { first: 110, second: 20, frames: 30 };
    let out =
        connect(&skeleton, &facing, [&walk, &run], at, Keep::First, Method::default()).unwrap();
    let bad = "</h2><script>&\"\u{202e}\u{0}";
    let usual = UsualJumps::of(&[&walk, &run]);
    let seam = SeamView { names: [bad, bad], method: bad, unit: bad, ..view(at, &out, &usual) };
    // Another seam 40 frames later: what is shown of one ends at the other.
    let later = SeamView {
        first_last: out.made.end + 12,
        made: out.made.end + 13..out.made.end + 20,
        ..seam.clone()
    };
    let page = html(&skeleton, &facing, &out.clip, &[seam, later.clone()]);
    let body = check(&page, 2);
    assert!(!page.contains("<script") && body.contains("href=\"#seam2\""));
    let (one, two) = body.split_once("id=\"seam2\"").unwrap();
    assert_eq!(poses(one).last().unwrap().0, later.first_last);
    assert_eq!(poses(two)[0].0, out.made.end);
    check(&html(&skeleton, &facing, &out.clip, &[]), 0);
}

#[test]
fn there_is_a_page_whatever_is_in_it() {
    let rate = FrameRate::from_fps(30.0).unwrap();
    let mut one = Skeleton::new();
    one.add_root(Joint::new("root", DVec3::ZERO)).unwrap();
    let mut two = one.clone();
    two.add(JointIndex::new(0), Joint::new("tip", DVec3::X)).unwrap();
    let places = [DVec3::ZERO, DVec3::splat(1e300), DVec3::new(1e-300, 0.0, -3.0)];
    let numbers = [0, 1, 2, 7, usize::MAX];
    let odd = [0.0, -1.0, 1e300, f64::NAN, f64::INFINITY];
    let matrices = [
        DistanceMatrix { a_frames: vec![], b_frames: vec![], distances: vec![] },
        DistanceMatrix { a_frames: vec![3], b_frames: vec![5], distances: vec![2.0] },
        DistanceMatrix {
            a_frames: vec![9, 1],
            b_frames: vec![0, 1],
            distances: vec![f64::NAN, 1.0],
        },
        DistanceMatrix { a_frames: (0..700).collect(), b_frames: vec![0], distances: vec![1.0; 9] },
    ];
    for (skeleton, joints) in [(Skeleton::new(), 0), (one, 1), (two, 2)] {
        for count in [0_usize, 1, 2, 5] {
            for place in places {
                let turn: Rotations = (0..count)
                    .map(|f| Rotation::about_y(Angle::from_degrees(100.0 * as_degrees(f))))
                    .collect();
                let tracks = vec![Track::turning(turn, place); joints];
                let Ok(clip) = Clip::new(count, rate, tracks) else { continue };
                let usual = UsualJumps::of(&[&clip]);
                for (i, first_last) in numbers.into_iter().enumerate() {
                    for (k, end) in numbers.into_iter().enumerate() {
                        let window = Overlap {
                            first: first_last,
                            second: end,
                            frames: numbers[(i + k) % 5],
                        };
                        let seam = SeamView {
                            names: ["", "b"],
                            method: "",
                            window,
                            first_last,
                            made: first_last..end,
                            from_frame: numbers[k],
                            to_frame: numbers[i],
                            distance: odd[i],
                            unit: "",
                            matrix: matrices.get(k),
                            worst: Some(Jump {
                                joint: JointIndex::new(numbers[k] % 4),
                                frame: numbers[i],
                                by: Angle::from_radians(odd[k]),
                            }),
                            usual: &usual,
                        };
                        for ground in [Ground::Y_UP, Ground::Z_UP] {
                            let facing = Facing::on(&skeleton, ground);
                            let seams = [seam.clone(), seam.clone()];
                            check(&html(&skeleton, &facing, &clip, &seams), 2);
                        }
                    }
                }
            }
        }
    }
}

fn as_degrees(frame: usize) -> f64 {
    f64::from(u32::try_from(frame).unwrap())
}

/// A cut is seen where it is: a step of the curve between two frames, drawn as what is between them.
#[test]
fn curves_are_the_turns_away_from_the_last_frame_of_the_first_motion() {
    let mut skeleton = Skeleton::new();
    let root = skeleton.add_root(Joint::new("root", DVec3::ZERO)).unwrap();
    skeleton.add(root, Joint::new("door", DVec3::X)).unwrap();
    // From 170° on by 1° in each frame, and by 30° at once at the seam: past half a turn.
    let angle = |f: u32| 170.0 + f64::from(f) + if f > 5 { 29.0 } else { 0.0 };
    let turn: Rotations =
        (0..12).map(|f| Rotation::about_z(Angle::from_degrees(angle(f)))).collect();
    let still: Rotations = std::iter::repeat_n(Rotation::IDENTITY, 12).collect();
    let tracks = vec![Track::turning(still, DVec3::ZERO), Track::turning(turn, DVec3::X)];
    let clip = Clip::new(12, FrameRate::from_fps(10.0).unwrap(), tracks).unwrap();
    let usual = UsualJumps::of(&[&clip]);
    let seam = SeamView {
        names: ["a", "b"],
        method: "cut",
        window: Overlap { first: 5, second: 0, frames: 1 },
        first_last: 5,
        made: 6..6,
        from_frame: 5,
        to_frame: 0,
        distance: 0.0,
        unit: "m",
        matrix: None,
        worst: None,
        usual: &usual,
    };
    let page = html(&skeleton, &Facing::on(&skeleton, Ground::Y_UP), &clip, &[seam]);
    let body = check(&page, 1);
    let plot = body.split("aria-label=\"door, about z, °\"").nth(1).unwrap();
    let plot = plot.split("</svg>").next().unwrap();
    let line = |class: &str| -> Vec<f64> {
        let data = plot.split(&format!("class=\"sm-curve {class}\" d=\"M")).nth(1).unwrap();
        let data = data.split('"').next().unwrap().replace('L', " ");
        data.split(' ').skip(1).step_by(2).map(|y| y.parse().unwrap()).collect()
    };
    let (first, made, second) = (line("first"), line("made"), line("second"));
    // 0.5 s before and after the middle of the seam, at ten frames per second.
    assert_eq!((first.len(), made.len(), second.len()), (6, 2, 5));
    let degree = first[0] - first[1];
    assert!(degree > 1.0, "{first:?}");
    // Numbers are to hundredths of a pixel.
    for pair in first.windows(2).chain(second.windows(2)) {
        assert!((pair[0] - pair[1] - degree).abs() < 0.011, "{pair:?}");
    }
    assert!((made[0] - made[1] - 30.0 * degree).abs() < 0.3, "{made:?}");
    assert_eq!((made[0], made[1]), (first[5], second[0]));
}
