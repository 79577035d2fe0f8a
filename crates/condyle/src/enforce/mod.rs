//! Limits put to work on motion: which frames leave them, and motion that does not.
//!
//! A [`BoundRig`] is a rig matched with a skeleton by joint names, its limits made ready. It
//! [checks](BoundRig::check) and [clamps](BoundRig::clamp) the clips of that skeleton.
//!
//! Joints are worked on independently of each other, on as many threads as the caller says, with the
//! same result for any number. One starts none.
//!
//! ```
//! use std::num::NonZeroUsize;
//!
//! use condyle::enforce::{BoundRig, ClampOptions};
//! use condyle::glam::DVec3;
//! use condyle::limits::Limit;
//! use condyle::math::{Angle, Arc, Rotation};
//! use condyle::motion::{Clip, FrameRate, Track};
//! use condyle::rig::{JointKind, Rig, RigJoint};
//! use condyle::skeleton::{Joint, Skeleton};
//!
//! // A knee that bends by up to 100° and has limits of 0° to 90°.
//! let mut skeleton = Skeleton::new();
//! let knee = skeleton.add_root(Joint::new("Knee", DVec3::ZERO))?;
//! let bend = |f: u32| Rotation::about_x(Angle::from_degrees(10.0 * f64::from(f)));
//! let track = Track::turning((0..11).map(bend).collect(), DVec3::ZERO);
//! let mut clip = Clip::new(11, FrameRate::from_fps(30.0).unwrap(), vec![track])?;
//! let mut rig = Rig::from_skeleton(&skeleton);
//! let arc = Arc::from_degrees(0.0, 90.0).unwrap();
//! rig.joints.insert("Knee", RigJoint::new(JointKind::Hinge, Limit::Hinge { axis: DVec3::X, arc }));
//!
//! let bound = BoundRig::new(&rig, &skeleton)?;
//! let found = bound.check(&clip, NonZeroUsize::MIN);
//! assert!(!found.ok());
//! assert_eq!(found.joints[0].outside, 1);
//! let worst = found.joints[0].worst.ok_or("no frame")?;
//! assert_eq!(worst.frame.get(), 10);
//! assert!((worst.excess.degrees() - 10.0).abs() < 1e-9);
//!
//! bound.clamp(&mut clip, &ClampOptions::default());
//! assert!(bound.check(&clip, NonZeroUsize::MIN).ok());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bound;
mod check;
mod clamp;
mod roadmap;
mod smooth;

pub use bound::{BoundRig, RestDifference};
pub use check::{Check, JointCheck, Worst};
pub use clamp::{ClampOptions, Clamped, JointClamp};
pub use smooth::Smoothing;
