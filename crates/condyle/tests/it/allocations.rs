//! Inner loops do not allocate.

use condyle::motion::{Pose, World, WorldTracks};
use condyle::synth::{Figure, Options, Synth};

#[test]
fn forward_kinematics_does_not_allocate_per_frame() {
    let options = Options { frames: 2000, ..Options::default() };
    let synth = Synth::generate(&Figure::random(31, 1).unwrap(), &options, 1).unwrap();
    let (skeleton, clip) = (&synth.skeleton, &synth.clip);

    let mut tracks = WorldTracks::default();
    tracks.update(skeleton, clip, 0..256);
    let blocks = allocation_counter::measure(|| {
        for start in (0..1792).step_by(256) {
            tracks.update(skeleton, clip, start..start + 256);
        }
    });
    assert_eq!(blocks.count_total, 0, "{blocks:?}");

    let (mut pose, mut world) = (Pose::default(), World::new());
    clip.pose_into(clip.frames().next().unwrap(), &mut pose);
    world.update(skeleton, &pose);
    let poses = allocation_counter::measure(|| {
        for frame in clip.frames() {
            clip.pose_into(frame, &mut pose);
            world.update(skeleton, &pose);
        }
        for i in 0..1000 {
            clip.sample_into(f64::from(i) * 0.0123, &mut pose);
        }
    });
    assert_eq!(poses.count_total, 0, "{poses:?}");
}
