//! Placeholder.
#![allow(clippy::all, missing_docs, clippy::disallowed_methods)]
pub fn sin_cos(x: f64) -> (f64, f64) {
    x.sin_cos()
}
pub fn atan2(y: f64, x: f64) -> f64 {
    y.atan2(x)
}
pub fn asin(x: f64) -> f64 {
    x.asin()
}
pub fn acos(x: f64) -> f64 {
    x.acos()
}
pub fn hypot(x: f64, y: f64) -> f64 {
    x.hypot(y)
}
pub fn hypot3(x: f64, y: f64, z: f64) -> f64 {
    x.hypot(y).hypot(z)
}
