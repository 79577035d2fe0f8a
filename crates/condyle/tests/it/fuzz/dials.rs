//! Dials: tables of them, poses, and dials found for motion.

use arbitrary::{Result, Unstructured};
use condyle::glam::DVec3;
use condyle::ik::{DialSettings, DialSolver, FitTo};
use condyle::maps::{Dial, DialClip, Network, Unit};
use condyle::motion::FrameRate;
use condyle::report::dials::{FitView, PoseView, Residual, html, html_of_fit};
use condyle::rig::Rig;

use super::check::check_file;
use super::limits::number;
use super::markup::check_page;
use condyle::formats::MotionFile;

/// Dials with every unit, and names that need care.
fn dials() -> Vec<Dial> {
    let dial = |name: &str, unit: Unit, range: [f64; 2]| Dial {
        name: name.to_owned(),
        range,
        rest: 0.5 * (range[0] + range[1]),
        unit,
        label: String::new(),
        source: String::new(),
    };
    vec![
        dial("a.bend", Unit::Angle, [-1.0, 2.0]),
        dial("b,\"c\"", Unit::Angle, [0.0, 1e-3]),
        dial("d", Unit::Length, [-0.1, 0.1]),
        dial("e", Unit::Ratio, [0.0, 1.0]),
    ]
}

/// Any bytes as a table of dials: what reads is written, and reads as the same.
pub fn read_dials(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (dials, rate) = (dials(), FrameRate::from_fps(30.0).expect("a rate"));
    let clip = match DialClip::read_csv(&text, &dials, rate) {
        Ok(clip) => clip,
        Err(error) => {
            assert!(!error.to_string().is_empty() && error.to_string().len() < 100_000);
            let lines = text.replace("\r\n", "\n").replace('\r', "\n");
            // One beyond the end, where something is missing.
            assert!(error.line >= 1 && error.line <= lines.split('\n').count() + 1, "{error}");
            assert!(error.column >= 1 && error.column <= text.len() + 1, "{error}");
            return;
        }
    };
    assert!(!clip.is_empty());
    for frame in 0..clip.len() {
        assert!(clip.frame(frame).iter().all(|value| value.is_finite()), "{:?}", clip.frame(frame));
    }
    if let Some((frame, dial)) = clip.beyond(&dials) {
        assert!(dials[dial].beyond(clip.frame(frame)[dial]));
    }
    let written = clip.csv(&dials);
    let again =
        DialClip::read_csv(&written, &dials, rate).unwrap_or_else(|e| panic!("{e}\n{written}"));
    assert_eq!(again.csv(&dials), written);
    assert_eq!(again.len(), clip.len());
    let mut inside = clip.clone();
    for clamped in inside.clamp(&dials) {
        assert!(clamped.frames > 0 && clamped.frames <= clip.len());
    }
    assert_eq!(inside.beyond(&dials), None);
}

/// A figure posed by dials, dials found for that motion again, and both on pages.
pub fn fit_dials(data: &[u8]) {
    let _too_short = fit_of(&mut Unstructured::new(data));
}

/// The models but the whole body, which takes too long.
fn model(u: &mut Unstructured<'_>) -> Result<Rig> {
    let name = *u.choose(&["spine", "shoulder", "knee"])?;
    Ok(condyle::models::find(name).expect("it is there"))
}

fn fit_of(u: &mut Unstructured<'_>) -> Result<()> {
    let rig = model(u)?;
    let network = Network::new(&rig.maps, &rig.skeleton).expect("a model is right");
    let fps = *u.choose(&[30.0, 120.0, 1.0])?;
    let mut set = DialClip::new(FrameRate::from_fps(fps).expect("a rate"), network.dials().len());
    for _ in 0..u.int_in_range(0..=4)? {
        let mut frame = Vec::new();
        for dial in network.dials() {
            let share = f64::from(u.arbitrary::<u8>()?) / 255.0;
            let [min, max] = dial.range;
            frame.push(if u.ratio(1, 16)? { number(u)? } else { min + share * (max - min) });
        }
        set.push(&frame);
    }
    let clip = match network.clip(&rig.skeleton, &set) {
        Ok(clip) => clip,
        Err(error) => {
            assert!(set.is_empty(), "{error}");
            return Ok(());
        }
    };
    check_file(&MotionFile::new(rig.skeleton.clone(), clip.clone()));
    set.clamp(network.dials());
    let joints: Vec<_> = rig.skeleton.indices().filter(|j| network.moves(*j)).collect();
    let to = if u.arbitrary()? { FitTo::World(&joints) } else { FitTo::Parents(&rig.skeleton) };
    let settings = DialSettings { steps: u.int_in_range(0..=20)?, ..DialSettings::default() };
    let mut solver = DialSolver::new(&network);
    let found = solver.fit_clip(&network, &rig.skeleton, &clip, to, &settings, |_| {});
    assert_eq!(found.dials.len(), clip.frame_count());
    assert_eq!(found.dials.beyond(network.dials()), None);
    for miss in &found.misses {
        assert!(miss.rms.radians() >= 0.0 && miss.worst >= miss.rms, "{miss:?}");
        assert!(miss.worst_frame < clip.frame_count());
    }
    let axes = [DVec3::Y, DVec3::Z];
    let rest: Vec<f64> = network.dials().iter().map(|dial| dial.rest).collect();
    let poses =
        [PoseView { name: "</main>", dials: &rest }, PoseView { name: "set", dials: set.frame(0) }];
    check_page(&html("<b>", &rig.skeleton, &network, axes, &poses, Some(&found.dials)));
    let residuals: Vec<Residual<'_>> = found
        .misses
        .iter()
        .map(|miss| Residual {
            joint: &rig.skeleton[miss.joint].name,
            rms: miss.rms,
            worst: miss.worst,
            worst_frame: miss.worst_frame,
        })
        .collect();
    let view = FitView {
        dials: &found.dials,
        captured: &clip,
        source: &rig.skeleton,
        residuals: &residuals,
        warnings: &["<script>".to_owned()],
    };
    check_page(&html_of_fit("\"", &rig.skeleton, &network, axes, &view));
    Ok(())
}
