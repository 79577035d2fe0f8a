//! Rotations taken apart and put together.

use std::f64::consts::PI;

use condyle::glam::DVec3;
use condyle::math::{
    Angle, EulerAngles, EulerOrder, Points, Rotation, Rotations, Squad, SwingAxes, SwingKind,
    SwingTwist, batch as columns, cubic_point, mean_rotation,
};
use condyle::synth::Rng;

use crate::{Hash, How};

/// A fixed draw, and those at and near the singular places: no turn, half turns, quarter turns.
fn rotations(seed: u64, n: usize) -> Vec<Rotation> {
    let mut rng = Rng::new(seed);
    let mut turns = Vec::new();
    let angles = [0.0, 1e-300, 1e-160, 1e-9, 1e-3, PI / 2.0, PI - 1e-9, PI, PI.next_up(), 2.0 * PI];
    for angle in angles {
        for sign in [angle, -angle] {
            let angle = Angle::from_radians(sign);
            turns.extend([
                Rotation::about_x(angle),
                Rotation::about_y(angle),
                Rotation::about_z(angle),
            ]);
            turns.extend(Rotation::from_axis_angle(rng.direction(), angle));
        }
    }
    let singular = turns.clone();
    for i in 0..n {
        let turn = rng.rotation();
        // Some at a gimbal lock or half turn but for rounding.
        turns.push(if i % 4 == 0 { turn * singular[i % singular.len()] } else { turn });
    }
    turns
}

fn combined(hashes: Vec<Hash>) -> Hash {
    let mut hash = Hash::default();
    hash.all(hashes);
    hash
}

pub(super) fn log_exp(how: &How) -> Hash {
    combined(how.each(&rotations(11, 1500), |&r| {
        let mut hash = Hash::default();
        hash.vector(r.log());
        hash.option(Rotation::exp(r.log()), Hash::rotation);
        hash.option(Rotation::exp(r.log() * 1e3), Hash::rotation);
        hash.angle(r.angle());
        let m = r.to_matrix();
        hash.f64s(&m.to_cols_array());
        hash.option(Rotation::from_matrix(m), Hash::rotation);
        hash
    }))
}

pub(super) fn euler(how: &How) -> Hash {
    combined(how.each(&rotations(12, 800), |&r| {
        let mut hash = Hash::default();
        for order in EulerOrder::ALL {
            let angles = EulerAngles::from_rotation(order, r);
            angles.angles.into_iter().for_each(|a| hash.angle(a));
            hash.u64(u64::from(angles.lock.is_some()));
            hash.option(angles.to_rotation(), Hash::rotation);
            let far = [Angle::from_radians(7.0), Angle::from_radians(-5.0), Angle::ZERO];
            angles.nearest(far).into_iter().for_each(|a| hash.angle(a));
        }
        hash
    }))
}

pub(super) fn swing_twist(how: &How) -> Hash {
    let mut rng = Rng::new(13);
    let axes: Vec<SwingAxes> = [DVec3::X, DVec3::Y, DVec3::Z, -DVec3::Z, rng.direction()]
        .into_iter()
        .map(|bone| SwingAxes::new(bone, None).expect("a unit vector is an axis"))
        .collect();
    combined(how.each(&rotations(14, 800), |&r| {
        let mut hash = Hash::default();
        for axes in &axes {
            let parts = SwingTwist::from_rotation(r, axes);
            hash.angle(parts.swing.angle());
            hash.angle(parts.twist);
            hash.option(parts.swing.to_rotation(axes), Hash::rotation);
            hash.option(parts.to_rotation(axes), Hash::rotation);
            let direction = r * axes.bone();
            for kind in SwingKind::ALL {
                hash.option(kind.coordinates(axes, direction), |hash, [a, b]| {
                    hash.angle(a);
                    hash.angle(b);
                    hash.option(kind.rotation(axes, [a, b]), Hash::rotation);
                });
                hash.option(kind.induced_twist(axes, direction), Hash::angle);
            }
        }
        hash
    }))
}

pub(super) fn between(how: &How) -> Hash {
    let turns = rotations(15, 1200);
    let starts: Vec<usize> = (0..turns.len() - 3).collect();
    combined(how.each(&starts, |&i| {
        let mut hash = Hash::default();
        let times = [0.0, 1.0, 2.5, 3.0];
        let key = |k: usize| (times[k], turns[i + k]);
        let point = |k: usize| (times[k], turns[i + k].log());
        let squad = Squad::new(Some(key(0)), key(1), key(2), Some(key(3)));
        for u in [0.0, 1e-9, 0.125, 1.0 / 3.0, 0.5, 0.9, 1.0] {
            hash.rotation(turns[i].slerp(turns[i + 1], u));
            hash.option(squad.as_ref(), |hash, squad| hash.rotation(squad.at(u)));
            let cubic = cubic_point(Some(point(0)), point(1), point(2), Some(point(3)), u);
            hash.option(cubic, Hash::vector);
        }
        hash
    }))
}

pub(super) fn mean(how: &How) -> Hash {
    let seeds: Vec<u64> = (0..40).collect();
    combined(how.each(&seeds, |&seed| {
        let mut rng = Rng::stream(16, seed);
        let middle = rng.rotation();
        // From close together to all over the sphere.
        let size = rng.between(0.0, 4.0);
        let turns: Vec<(Rotation, f64)> = (0..100)
            .filter_map(|_| Rotation::exp(rng.direction() * (size * rng.uniform())))
            .map(|turn| middle * turn)
            .enumerate()
            .map(|(i, turn)| (turn, if i % 3 == 0 { 1.0 } else { 0.3 }))
            .collect();
        let mut hash = Hash::default();
        hash.option(mean_rotation(turns), |hash, mean| {
            hash.rotation(mean.rotation);
            hash.f64s(&mean.eigenvalues);
            hash.u64(u64::from(mean.unique));
        });
        hash
    }))
}

/// Whole columns, with the instructions that `how` says.
pub(super) fn batch(how: &How) -> Hash {
    let all = rotations(16, 3000);
    // One rotation by another in the order of a single column, however the threads cut it.
    let hashes = how.split(all.len(), |block| -> Vec<Hash> {
        let from: Rotations = all[block].iter().copied().collect();
        let n = from.len();
        let mut hashes = vec![Hash::default(); n];
        let mut add = |columns: &[Vec<f64>]| {
            for (i, hash) in hashes.iter_mut().enumerate() {
                columns.iter().for_each(|column| hash.f64(column[i]));
            }
        };
        let mut back = Rotations::repeat(Rotation::IDENTITY, n);
        for order in EulerOrder::ALL {
            let mut to = [(); 3].map(|()| vec![0.0; n]);
            let [a, b, c] = &mut to;
            columns::euler_angles(how.level, order, &from, [a, b, c]);
            columns::euler_rotations(how.level, order, [&to[0], &to[1], &to[2]], &mut back);
            add(&to);
            add(&back.xyzw().map(<[f64]>::to_vec));
        }
        for axes in
            [SwingAxes::Z, SwingAxes::new(DVec3::new(1.0, -2.0, 0.5), None).unwrap_or_default()]
        {
            let mut to = [(); 3].map(|()| vec![0.0; n]);
            let [x, y, twist] = &mut to;
            columns::swing_twist(how.level, &axes, &from, [x, y, twist]);
            add(&to);
            let mut to = [(); 5].map(|()| vec![0.0; n]);
            let [x, y, w, z, twist_w] = &mut to;
            columns::swing_twist_halves(how.level, &axes, &from, [x, y, w, z, twist_w]);
            add(&to);
        }
        let mut logs = Points::repeat(DVec3::ZERO, n);
        columns::log(how.level, &from, &mut logs);
        columns::exp(how.level, &logs, &mut back);
        add(&logs.xyz().map(<[f64]>::to_vec));
        add(&back.xyzw().map(<[f64]>::to_vec));
        hashes
    });
    combined(hashes.into_iter().flatten().collect())
}
