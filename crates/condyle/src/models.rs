//! Parts of the human body with joint maps: a few dials that move many joints.
//!
//! The data files are rig documents in `crates/condyle/models`, each with its sources and what was
//! assumed.
//!
//! ```
//! use condyle::maps::Network;
//! use condyle::models;
//!
//! let spine = models::find("spine").ok_or("no spine")?;
//! let network = Network::new(&spine.maps, &spine.skeleton)?;
//! let mut state = network.state();
//! let mut dials = state.dials().to_vec();
//! dials[network.find("lumbar.flexion").ok_or("no dial")?] = 0.6;
//! network.evaluate(&dials, &mut state);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::rig::Rig;

const FILES: &[(&str, &str)] = &[
    ("spine", include_str!("../models/spine.json")),
    ("shoulder", include_str!("../models/shoulder.json")),
    ("knee", include_str!("../models/knee.json")),
    ("body", include_str!("../models/body.json")),
];

/// Their names.
pub fn names() -> impl ExactSizeIterator<Item = &'static str> {
    FILES.iter().map(|(name, _)| *name)
}

/// The model of a name, read from its data file.
#[must_use]
pub fn find(name: &str) -> Option<Rig> {
    Some(Rig::read(text(name)?.as_bytes()).ok()?.rig)
}

/// The data file of a model.
#[must_use]
pub fn text(name: &str) -> Option<&'static str> {
    FILES.iter().find(|(n, _)| *n == name).map(|(_, text)| *text)
}

/// Whether this is the data file of a model, as it comes along.
#[must_use]
pub fn is_one(bytes: &[u8]) -> bool {
    FILES.iter().any(|(_, text)| text.as_bytes() == bytes)
}

#[cfg(test)]
mod tests;
