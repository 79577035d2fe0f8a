//! Damped least squares inside of limits.

use glam::{DMat3, DVec3};

use super::search::{Ending, Hold, Scratch};
use super::system::{Linear, Stop, System};

/// The damping at first, as a share of the cost of the goals.
const DAMPING: f64 = 0.1;

/// The least damping, in the units of squares of columns: metres or one.
const LEAST: f64 = 1e-9;

/// How often a step is taken again with more limits held to.
const ROUNDS: usize = 6;

/// A step that runs into a limit is taken again if it is beyond by more than this share of its length.
/// What is less is because limits are curved.
const BEYOND: f64 = 0.1;

/// A limit that pushes inward by more than this, in units of the cost per unit of the step, is let go.
const PUSHES: f64 = 1e-12;

/// If no goal moves by more than this, in metres or radians, nothing comes of it any more.
const STILL: f64 = 1e-5;

/// Looks for where a system's cost is least, from `here`. Ends with `here` at the best place found, which
/// is the one that was looked at last; `there` may be another.
///
/// # Source
///
/// K. Levenberg 1944, D. Marquardt 1963; damping in proportion to the cost after T. Sugihara,
/// "Solvability-unconcerned inverse kinematics by the Levenberg-Marquardt method", IEEE Trans. Robotics
/// 27(5), 2011. A step δ is the least of `½ |r + J δ|² + ½ δᵀ D δ + gᵀ δ`. With `y = r + J δ` that is
///
/// ```text
///   (1 + J D⁻¹ Jᵀ) y = r − J D⁻¹ g,      δ = −D⁻¹ (g + Jᵀ y)
/// ```
///
/// a matrix of the size of the goals, however many joints there are. Where goals are many more than
/// freedoms, as for the dials of a body, `(D + Jᵀ J) δ = −(g + Jᵀ r)` is the same and smaller.
///
/// Limits are an active set. Where `here` is on the boundary of one, and the slope leads on into it, the
/// direction into it is taken out of the block. A step that runs into others is taken again with these
/// held to as well: as far as to the limit along its normal, freely across it. Then those are let go that
/// push the wrong way, which is where the cost would fall back inside, and it is taken again. What is left
/// of that, for limits are curved, is projected away.
pub(super) fn solve(
    system: &mut impl System,
    scratch: &mut Scratch,
    most_steps: u32,
) -> (Ending, u32) {
    let mut damping = DAMPING;
    scratch.stops_here.clear();
    system.look(&mut scratch.linear);
    let postured = scratch.linear.is_postured();
    let mut steps = 0;
    loop {
        let Linear { met, .. } = scratch.linear;
        if met && !postured {
            return (Ending::Met, steps);
        }
        let otherwise = |ending| if met { Ending::Met } else { ending };
        if steps == most_steps {
            return (otherwise(Ending::TooLong), steps);
        }
        steps += 1;
        let before = scratch.linear.cost();
        scratch.residual.clone_from(&scratch.linear.residual);
        system.differentiate(&mut scratch.linear);
        let expected = scratch.step(system, damping);
        system.look(&mut scratch.linear);
        let after = scratch.linear.cost();
        if after < before {
            system.accept();
            scratch.remember_stops(system);
            let short = damping > DAMPING;
            let gained = before - after;
            damping = (0.2 * damping).max(1e-4);
            // It came out as expected where the posture is best, or there is no more to gain.
            let settled = (after - expected).abs() < 0.02 * gained + 1e-3 * after;
            if scratch.linear.met && settled {
                return (Ending::Met, steps);
            }
            if gained < 1e-5 * before && !short && scratch.moved() < STILL {
                let ending = if scratch.linear.met { Ending::Met } else { Ending::Stuck };
                return (ending, steps);
            }
        } else {
            let goes = scratch.step.iter().fold(0.0_f64, |most, s| most.max(s.abs()));
            scratch.step.fill(0.0);
            scratch.stops.clear();
            system.try_step(&scratch.step, &mut scratch.stops);
            system.look(&mut scratch.linear);
            if damping > 1e6 || goes < 1e-9 {
                return (otherwise(Ending::Stuck), steps);
            }
            damping *= 10.0;
        }
    }
}

impl Scratch {
    /// How far the goal moved that moved farthest in the last step.
    fn moved(&self) -> f64 {
        let both = self.residual.iter().zip(&self.linear.residual);
        both.map(|(before, after)| before.distance_squared(*after)).fold(0.0, f64::max).sqrt()
    }

    /// A step from `here`, tried. What the cost should be there.
    fn step(&mut self, system: &mut impl System, damping: f64) -> f64 {
        self.settled.clear();
        self.settled.resize(self.linear.pull.len(), 0.0);
        self.holds.clear();
        self.along.clear();
        let posture = self.linear.posture;
        for i in 0..self.stops_here.len() {
            let Stop { block, normal, .. } = self.stops_here[i];
            let out = system.blocks()[block].freedoms().zip(normal);
            let touched = system.touched(block);
            let outward: f64 =
                out.map(|(freedom, n)| n * self.linear.slope(freedom, touched)).sum();
            if outward < 0.0 {
                self.hold(system, block, normal, 0.0);
            }
        }
        self.damp(system, damping);
        let mut released = false;
        for round in 1..=ROUNDS {
            self.solve_step(system);
            self.stops.clear();
            system.try_step(&self.step, &mut self.stops);
            if round == ROUNDS {
                break;
            }
            // Those that are let go may be run into again, and stay then.
            let again = self.hold_stops(system)
                || (!released && {
                    released = self.release(system);
                    released
                });
            if !again {
                break;
            }
        }
        let goals: f64 = self.dual.iter().map(|y| y.length_squared()).sum();
        let Linear { pull, stiffness, .. } = &self.linear;
        let posture = posture
            + self
                .step
                .iter()
                .zip(pull.iter().zip(stiffness))
                .fold(0.0, |sum, (step, (pull, s))| sum + step * (pull + 0.5 * s * step));
        0.5 * goals + posture
    }

    /// The damping of every freedom: in proportion to the cost of the goals that it has an influence on,
    /// and of the posture. So a goal that is out of reach does not slow down what has nothing to do with
    /// it.
    fn damp(&mut self, system: &impl System, share: f64) {
        self.damping.clear();
        let Linear { residual, posture, .. } = &self.linear;
        for (b, block) in system.blocks().iter().enumerate() {
            let squares: f64 =
                system.touched(b).iter().map(|&g| residual[g].length_squared()).sum();
            let damping = share * (0.5 * squares + posture) + LEAST;
            self.damping.extend(block.freedoms().map(|_| damping));
        }
    }

    /// Holds to the limits that the step ran into, if it is far beyond. Whether there were any.
    fn hold_stops(&mut self, system: &impl System) -> bool {
        let mut more = false;
        for i in 0..self.stops.len() {
            let Stop { block, normal, beyond } = self.stops[i];
            let (mut square, mut out) = (0.0, 0.0);
            for (freedom, n) in system.blocks()[block].freedoms().zip(normal) {
                let step = self.step[freedom];
                square += step * step;
                out += step * n;
            }
            if beyond * beyond > BEYOND * BEYOND * square {
                more |= self.hold(system, block, normal, out - beyond);
            }
        }
        more
    }

    /// Lets go of the limits that push inward. Whether there were any.
    fn release(&mut self, system: &impl System) -> bool {
        if self.holds.is_empty() {
            return false;
        }
        let mut released = false;
        for block in 0..system.blocks().len() {
            if self.holds.iter().any(|hold| hold.block == block) {
                released |= self.release_of(system, block);
            }
        }
        released
    }

    /// The forces that limits of a block push with add up to what pulls on it where the step ends. With
    /// Dⱼ the derivative of what the step makes least along the normals eⱼ, which are square to each other,
    /// and wᵢ the ways out,
    ///
    /// ```text
    ///   Σᵢ λᵢ (wᵢ·eⱼ) = −Dⱼ
    /// ```
    ///
    /// and wᵢ·eⱼ is zero for i < j. A limit with λ < 0 would have to pull.
    fn release_of(&mut self, system: &impl System, block: usize) -> bool {
        const MOST: usize = 3;
        let mut own = [0; MOST];
        let mut count = 0;
        for (i, _) in self.holds.iter().enumerate().filter(|(_, h)| h.block == block).take(MOST) {
            own[count] = i;
            count += 1;
        }
        let own = &own[..count];
        let touched = system.touched(block);
        let freedoms = system.blocks()[block].freedoms();
        let mut push = [0.0; MOST];
        for (j, hold) in own.iter().map(|&i| self.holds[i]).enumerate().rev() {
            let along = self.along[hold.along..][..touched.len()].iter();
            let by_goals: f64 = touched.iter().zip(along).map(|(&g, a)| a.dot(self.dual[g])).sum();
            let resists = |f: usize| self.linear.stiffness[f] + self.damping[f];
            let resisted: f64 =
                freedoms.clone().zip(hold.normal).map(|(f, n)| n * n * resists(f) * hold.by).sum();
            let normal = DVec3::from_array(hold.normal);
            let beside = |i: usize| DVec3::from_array(self.holds[own[i]].way_out).dot(normal);
            let others: f64 = (j + 1..count).map(|i| push[i] * beside(i)).sum();
            push[j] = (-(by_goals + hold.pull + resisted) - others) / beside(j);
        }
        if push[..count].iter().all(|push| *push >= -PUSHES) {
            return false;
        }
        let mut kept = [None; MOST];
        for ((&i, push), kept) in own.iter().zip(push).zip(&mut kept) {
            let hold = self.holds[i];
            *kept = (push >= -PUSHES).then_some((hold.way_out, hold.out_by));
            let Linear { residual, columns, pull, .. } = &mut self.linear;
            let goals = residual.len();
            for (&g, a) in touched.iter().zip(&self.along[hold.along..]) {
                residual[g] -= *a * hold.by;
                for (freedom, n) in freedoms.clone().zip(hold.normal) {
                    columns[freedom * goals + g] += *a * n;
                }
            }
            for (freedom, n) in freedoms.clone().zip(hold.normal) {
                pull[freedom] += hold.pull * n;
                self.settled[freedom] -= n * hold.by;
            }
        }
        self.holds.retain(|hold| hold.block != block);
        for (way_out, by) in kept.into_iter().flatten() {
            self.hold(system, block, way_out, by);
        }
        true
    }

    /// `here` is on the boundary of what the step ran into, and mostly of what it was held to.
    pub(super) fn remember_stops(&mut self, system: &impl System) {
        std::mem::swap(&mut self.stops, &mut self.stops_here);
        for i in 0..self.holds.len() {
            let Hold { block, way_out, .. } = self.holds[i];
            let out = DVec3::from_array(way_out);
            let same =
                |stop: &Stop| stop.block == block && out.dot(DVec3::from_array(stop.normal)) > 0.9;
            if !self.stops_here.iter().any(same) {
                system.touch(block, way_out, &mut self.stops_here);
            }
        }
    }

    /// Takes a direction out of a block: the step goes `out_by` along it. Whether there was anything left to
    /// take.
    fn hold(&mut self, system: &impl System, block: usize, way_out: [f64; 3], out_by: f64) -> bool {
        let (mut normal, mut by) = (DVec3::from_array(way_out), out_by);
        for hold in self.holds.iter().filter(|hold| hold.block == block) {
            let along = normal.dot(hold.normal.into());
            by -= along * hold.by;
            normal -= DVec3::from_array(hold.normal) * along;
        }
        let length = normal.length();
        // What is left is the rounding of the others, or nearly parallel to them.
        if length < 0.05 {
            return false;
        }
        let (normal, by) = ((normal / length).to_array(), by / length);
        let freedoms = system.blocks()[block].freedoms();
        let Linear { residual, columns, pull, .. } = &mut self.linear;
        let goals = residual.len();
        let start = self.along.len();
        for &g in system.touched(block) {
            let mut along = DVec3::ZERO;
            for (freedom, n) in freedoms.clone().zip(normal) {
                along += columns[freedom * goals + g] * n;
            }
            residual[g] += along * by;
            for (freedom, n) in freedoms.clone().zip(normal) {
                columns[freedom * goals + g] -= along * n;
            }
            self.along.push(along);
        }
        let along: f64 = freedoms.clone().zip(normal).map(|(freedom, n)| pull[freedom] * n).sum();
        for (freedom, n) in freedoms.zip(normal) {
            pull[freedom] -= along * n;
            self.settled[freedom] += n * by;
        }
        let (pull, along) = (along, start);
        self.holds.push(Hold { block, way_out, out_by, normal, by, pull, along });
        true
    }

    fn solve_step(&mut self, system: &impl System) {
        let Linear { residual, pull, .. } = &self.linear;
        if 3 * residual.len() >= 2 * pull.len() {
            self.solve_by_freedoms(system);
        } else {
            self.solve_by_goals(system);
        }
    }

    /// Solves for the step itself.
    fn solve_by_freedoms(&mut self, system: &impl System) {
        let Linear { residual, columns, pull, stiffness, .. } = &self.linear;
        let (goals, freedoms) = (residual.len(), pull.len());
        self.normal.clear();
        self.normal.resize(freedoms * freedoms, 0.0);
        self.step.clear();
        for (b, block) in system.blocks().iter().enumerate() {
            let touched = system.touched(b);
            for freedom in block.freedoms() {
                let column = &columns[freedom * goals..][..goals];
                let along: f64 = touched.iter().map(|&g| column[g].dot(residual[g])).sum();
                self.step.push(-(pull[freedom] + along));
                let row = &mut self.normal[freedom * freedoms..][..=freedom];
                for (other, entry) in row.iter_mut().enumerate() {
                    let others = &columns[other * goals..][..goals];
                    *entry = touched.iter().map(|&g| column[g].dot(others[g])).sum();
                }
                row[freedom] += stiffness[freedom] + self.damping[freedom];
            }
        }
        factor_and_solve_dense(&mut self.normal, &mut self.step);
        self.dual.clear();
        self.dual.extend_from_slice(residual);
        for (b, block) in system.blocks().iter().enumerate() {
            for freedom in block.freedoms() {
                let column = &columns[freedom * goals..][..goals];
                let by = self.step[freedom];
                system.touched(b).iter().for_each(|&g| self.dual[g] += column[g] * by);
                self.step[freedom] += self.settled[freedom];
            }
        }
    }

    /// Solves for what is left of the goals.
    fn solve_by_goals(&mut self, system: &impl System) {
        let Linear { residual, columns, pull, stiffness, .. } = &self.linear;
        let goals = residual.len();
        self.matrix.clear();
        self.matrix.resize(goals * goals, DMat3::ZERO);
        for g in 0..goals {
            self.matrix[g * goals + g] = DMat3::IDENTITY;
        }
        self.dual.clear();
        self.dual.extend_from_slice(residual);
        self.softness.clear();
        let resists = stiffness.iter().zip(&self.damping);
        self.softness.extend(resists.map(|(stiffness, damping)| 1.0 / (stiffness + damping)));
        for (b, block) in system.blocks().iter().enumerate() {
            let touched = system.touched(b);
            for freedom in block.freedoms() {
                let column = &columns[freedom * goals..][..goals];
                let softness = self.softness[freedom];
                let off = pull[freedom] * softness;
                for (i, &g) in touched.iter().enumerate() {
                    self.dual[g] -= column[g] * off;
                    let scaled = column[g] * softness;
                    for &h in &touched[..=i] {
                        let entry = &mut self.matrix[g * goals + h];
                        let other = column[h];
                        entry.x_axis += scaled * other.x;
                        entry.y_axis += scaled * other.y;
                        entry.z_axis += scaled * other.z;
                    }
                }
            }
        }
        factor_and_solve(&mut self.matrix, &mut self.dual);
        self.step.clear();
        for (b, block) in system.blocks().iter().enumerate() {
            let touched = system.touched(b);
            for freedom in block.freedoms() {
                let column = &columns[freedom * goals..][..goals];
                let softness = self.softness[freedom];
                let along: f64 = touched.iter().map(|&g| column[g].dot(self.dual[g])).sum();
                self.step.push(self.settled[freedom] - softness * (pull[freedom] + along));
            }
        }
    }
}

/// Solves a system with a symmetric positive definite matrix of blocks, of which the lower half is given,
/// row by row, by its Cholesky factor. Factors of the diagonal are replaced by their inverses.
fn factor_and_solve(matrix: &mut [DMat3], x: &mut [DVec3]) {
    let n = x.len();
    for i in 0..n {
        let (above, row) = matrix.split_at_mut(i * n);
        let row = &mut row[..=i];
        let mut right = x[i];
        let mut last = row[i];
        for j in 0..i {
            let other = &above[j * n..][..=j];
            let mut sum = row[j];
            for (a, b) in row[..j].iter().zip(other) {
                sum -= times_transposed(a, b);
            }
            let factor = times_transposed(&sum, &other[j]);
            row[j] = factor;
            last -= times_transposed(&factor, &factor);
            right -= factor * x[j];
        }
        let inverse = inverse_factor(&last);
        row[i] = inverse;
        x[i] = inverse * right;
    }
    for i in (0..n).rev() {
        x[i] = matrix[i * n + i].transpose() * x[i];
        for j in 0..i {
            let back = matrix[i * n + j].transpose() * x[i];
            x[j] -= back;
        }
    }
}

/// The same for a matrix of numbers.
fn factor_and_solve_dense(matrix: &mut [f64], x: &mut [f64]) {
    let n = x.len();
    for i in 0..n {
        let (above, row) = matrix.split_at_mut(i * n);
        let row = &mut row[..=i];
        for j in 0..i {
            let other = &above[j * n..][..=j];
            let known: f64 = row[..j].iter().zip(other).map(|(a, b)| a * b).sum();
            row[j] = (row[j] - known) * other[j];
        }
        let (factors, last) = row.split_at_mut(i);
        let square = last[0] - factors.iter().map(|a| a * a).sum::<f64>();
        // What rounding made singular does not take part.
        last[0] = if square > 1e-300 { 1.0 / square.sqrt() } else { 0.0 };
        let known: f64 = factors.iter().zip(&*x).map(|(a, b)| a * b).sum();
        x[i] = (x[i] - known) * last[0];
    }
    for i in (0..n).rev() {
        x[i] *= matrix[i * n + i];
        for j in 0..i {
            x[j] -= matrix[i * n + j] * x[i];
        }
    }
}

fn times_transposed(a: &DMat3, b: &DMat3) -> DMat3 {
    *a * b.transpose()
}

/// The inverse of the lower Cholesky factor of a symmetric matrix of which the lower half is read.
fn inverse_factor(m: &DMat3) -> DMat3 {
    // What rounding made singular does not take part.
    let root = |square: f64| if square > 1e-300 { 1.0 / square.sqrt() } else { 0.0 };
    let a = root(m.x_axis.x);
    let (l10, l20) = (m.x_axis.y * a, m.x_axis.z * a);
    let b = root(m.y_axis.y - l10 * l10);
    let l21 = (m.y_axis.z - l20 * l10) * b;
    let c = root(m.z_axis.z - l20 * l20 - l21 * l21);
    let i10 = -l10 * a * b;
    let i21 = -l21 * b * c;
    let i20 = -(l20 * a + l21 * i10) * c;
    DMat3::from_cols(DVec3::new(a, i10, i20), DVec3::new(0.0, b, i21), DVec3::new(0.0, 0.0, c))
}
