//! Directions on the sphere, joined to triangles, and linear interpolation between them.

use std::f64::consts::PI;

use glam::DVec3;

use crate::math::{trig, unit};

/// Most directions that are taken. Building is quadratic: about a second for so many.
pub(crate) const MAX_DIRECTIONS: usize = 10_000;

/// Directions closer than this are one (radians, as a chord).
///
/// Triangles are found among points rounded to [`GRID`], which moves them by up to 8e-13. A point of
/// the unit sphere is h²/2 outside of the hull of all points farther than h from it: 5e-11 here, so
/// that every point stays a corner of the hull, with a factor of 30 to spare.
const SAME: f64 = 1e-5;

/// Points per unit of length when the hull is built. Determinants of differences of such points are
/// below 3·2¹²⁴ in size and so exact in `i128`.
const GRID: f64 = 1_099_511_627_776.0; // 2⁴⁰

/// Facets of the hull whose plane is nearer to the centre than this are left out.
///
/// That is the cosine of the radius of the cap through the three corners, 89.94°. Interpolation in
/// such a triangle would be up to this number's inverse steeper than the values are.
const MIN_COSINE: f64 = 1e-3;

/// Great arcs are shorter than half a turn by this much, so that it is clear which way they go.
const HALF_TURN_LESS: f64 = 1e-4;

/// How far below zero a weight may be by rounding. The worst is ε · |g| · |d − a|, with heights |g|⁻¹
/// of triangles down to SAME² and sides of SAME: 2e-11.
const ROUNDING: f64 = 1e-10;

/// A direction this near to the pole of an arc, from which all of it is a quarter turn away, is given
/// to one of its ends: only rounding would decide between them.
const POLE: f64 = 1e-12;

/// Parts of the border whose straight distances differ by less than this are equally near, whatever
/// rounding says: the first of them is taken.
const EQUALLY_NEAR: f64 = 1e-12;

/// Radians. This near to the pole of an arc rounding in a file may move a direction from being nearest to
/// one end of it to being nearest to the other.
const AROUND_POLE: f64 = 1e-4;

/// So many facets are searched at once; the way from the best of them is walked.
const SEEDS: usize = 32;

/// Neighbours of a facet that are none: there is nothing beyond,
const OUTSIDE: u32 = u32::MAX;
/// or there may be, because the border is not convex here.
const BEYOND: u32 = u32::MAX - 1;

/// The spherical Delaunay triangulation of some directions.
///
/// # Source
///
/// K. Q. Brown, "Voronoi diagrams from convex hulls" (1979): the facets of the convex hull of points
/// on a sphere are the triangles whose circumscribed cap holds no other point. Facets that turn away
/// from the centre of the sphere bound the part that the points cover. When the points are in one
/// hemisphere there are others, whose cap is larger than a hemisphere; they are left out, and what
/// remains is the spherical hull of the points, with a border.
///
/// The hull is built by inserting points in the order given. Whether a point sees a facet is decided
/// exactly, in whole numbers, on points rounded to 2⁻⁴⁰. So circles, grids and other sets with more
/// than one Delaunay triangulation give one of them.
///
/// # Domain and singularity
///
/// Total. Directions within 1e-5 rad of an earlier one are dropped. Directions on one great circle
/// have no triangles: they become a chain of great arcs, each shorter than half a turn. Single
/// directions stay single.
///
/// Time to build is O(n²), memory O(n). To find a direction, up to 32 triangles are compared at once
/// and the way from the best of them is walked: none for few triangles, O(√n) steps for many. Outside,
/// O(border) more.
#[derive(Clone, Debug)]
pub(crate) struct Triangulation {
    /// The directions as given.
    directions: Vec<DVec3>,
    facets: Vec<Facet>,
    /// The border of the triangles, and arcs and directions that belong to none.
    edges: Vec<Edge>,
    seeds: Seeds,
}

/// A direction as a combination of up to three given ones: non-negative, with sum 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Weights {
    /// Indices of the directions as given. Of those with weight zero any may be repeated.
    pub(crate) corners: [u32; 3],
    /// Theirs.
    pub(crate) weights: [f64; 3],
}

/// A part of the border that is as near to a direction as any, or nearly.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Tied {
    /// The nearest point of it.
    At(Weights),
    /// All of an arc with these ends: the direction is at its pole.
    Between([u32; 2]),
}

/// A triangle (a, b, c), counter-clockwise from outside.
#[derive(Clone, Copy, Debug)]
struct Facet {
    corners: [u32; 3],
    /// Opposite to each corner.
    neighbours: [u32; 3],
    /// The first two corners.
    a: DVec3,
    b: DVec3,
    /// `d = Σ (d · dual[i]) corner[i]` for every d.
    dual: [DVec3; 3],
}

/// A great arc from u to v, or a single direction (u = v and zero vectors).
#[derive(Clone, Copy, Debug)]
struct Edge {
    corners: [u32; 2],
    u: DVec3,
    v: DVec3,
    /// Unit normal of the arc's plane.
    normal: DVec3,
    /// Tangent of the circle at v, towards u. `d · to_u` is proportional to the weight of u.
    to_u: DVec3,
    /// Tangent at u, towards v.
    to_v: DVec3,
}

/// Normals of some facets, scaled so that the facet is at 1: among all, the facet that a direction
/// passes has the largest product with it.
#[derive(Clone, Debug, Default)]
struct Seeds {
    /// Their x, y and z.
    rows: Vec<[[f64; LANES]; 3]>,
    facet: Vec<u32>,
}

/// What a direction is interpolated between: the corners of a facet, the ends of an edge, or a corner alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cell {
    Facet(usize),
    Edge(usize),
    Corner(u32),
}

/// Where a direction is.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// In a facet, with `d · dual`.
    Facet(usize, [f64; 3]),
    /// Nearest to a point of an edge, with the products `d · to_u` and `d · to_v`.
    Edge(usize, [f64; 2]),
    Corner(u32),
}

impl Triangulation {
    /// Of unit vectors; `None` if there are none, or more than [`MAX_DIRECTIONS`].
    pub(crate) fn new(directions: &[DVec3]) -> Option<Self> {
        if directions.is_empty() || directions.len() > MAX_DIRECTIONS {
            return None;
        }
        let distinct = distinct(directions);
        let points: Vec<DVec3> = distinct.iter().map(|&i| directions[i]).collect();
        let hull = Hull::new(&points);

        let kept: Vec<bool> = hull.iter().map(|f| f.faces_out(&points)).collect();
        let mut links = loose_links(&points, &hull, &kept);
        let mut position = vec![OUTSIDE; hull.len()];
        let kept_facets = kept.iter().enumerate().filter(|(_, kept)| **kept);
        for (count, (facet, _)) in kept_facets.enumerate() {
            position[facet] = number(count);
        }
        let mut facets = Vec::new();
        for (f, _) in hull.iter().zip(&kept).filter(|(_, kept)| **kept) {
            let neighbours = f.neighbours.map(|n| position.get(n).copied().unwrap_or(OUTSIDE));
            facets.push(Facet::new(f.corners, neighbours, &points));
            for (side, _) in neighbours.iter().enumerate().filter(|(_, n)| **n == OUTSIDE) {
                links.push([f.corners[(side + 1) % 3], f.corners[(side + 2) % 3]]);
            }
        }
        mark_reentrant(&mut facets, &points);
        let mut edges: Vec<Edge> = links.iter().map(|&link| Edge::new(link, &points)).collect();

        // Back to the numbers of the directions as given.
        let given = |corner: u32| number(distinct[as_index(corner)]);
        for facet in &mut facets {
            facet.corners = facet.corners.map(given);
        }
        for edge in &mut edges {
            edge.corners = edge.corners.map(given);
        }
        let seeds = Seeds::new(&facets);
        Some(Self { directions: directions.to_vec(), facets, edges, seeds })
    }

    /// The directions as given.
    pub(crate) fn directions(&self) -> &[DVec3] {
        &self.directions
    }

    /// The weights of a direction, a unit vector.
    ///
    /// In a triangle (a, b, c) they are α : β : γ of `d = α a + β b + γ c`: linear in the plane of the
    /// triangle, seen from the centre. Outside of all triangles they are those of the nearest point of
    /// the border, between the two ends of its edge in the same way.
    ///
    /// # Domain and singularity
    ///
    /// Continuous, except where two parts of the border are equally near: there it is the first, and
    /// [`tied`](Self::tied) has all. A vector that is not finite gets the first direction.
    pub(crate) fn weights(&self, d: DVec3) -> Weights {
        self.weights_at(self.locate(d))
    }

    /// The weights, and whether the direction is outside of all triangles.
    pub(crate) fn weights_and_whether_outside(&self, d: DVec3) -> (Weights, bool) {
        let place = self.locate(d);
        (self.weights_at(place), !matches!(place, Place::Facet(..)))
    }

    /// The weights, and what they are between.
    pub(crate) fn weights_and_cell(&self, d: DVec3) -> (Weights, Cell) {
        let place = self.locate(d);
        let cell = match place {
            Place::Facet(facet, _) => Cell::Facet(facet),
            Place::Edge(edge, _) => Cell::Edge(edge),
            Place::Corner(corner) => Cell::Corner(corner),
        };
        (self.weights_at(place), cell)
    }

    /// Corners of a cell, and vectors whose products with a direction are proportional to the weights there
    /// and not negative; `None` where the weights are the same everywhere.
    pub(crate) fn duals(&self, cell: Cell) -> Option<([u32; 3], [DVec3; 3])> {
        match cell {
            Cell::Facet(facet) => self.facets.get(facet).map(|f| (f.corners, f.dual)),
            Cell::Edge(edge) => self.edges.get(edge).map(|e| {
                let [u, v] = e.corners;
                ([u, v, u], [e.to_u, e.to_v, DVec3::ZERO])
            }),
            Cell::Corner(_) => None,
        }
    }

    /// How much more than the direction a value at most changes that has these values at the directions:
    /// with g the dual vectors of a facet, whose sum has a product of at least 1 with the directions in it,
    /// the gradient is `(Σ v_i g_i − v Σ g) / (Σ g · d)`. Outside of the facets up to 60° from an edge.
    pub(crate) fn steepest(&self, values: impl Fn(usize) -> f64) -> f64 {
        let value = |corner: u32| values(as_index(corner));
        let of_facet = |facet: &Facet| {
            let values = facet.corners.map(value);
            let at = |v: f64| {
                let parts = values.iter().zip(facet.dual).map(|(value, g)| g * (value - v));
                parts.sum::<DVec3>().length()
            };
            values.map(at).into_iter().fold(0.0, f64::max)
        };
        let of_edge = |edge: &Edge| {
            let sine = edge.u.cross(edge.v).length();
            let [u, v] = edge.corners.map(value);
            if sine > 0.0 { 2.0 * (u - v).abs() / sine } else { 0.0 }
        };
        let steepest = self.facets.iter().map(of_facet).fold(0.0, f64::max);
        self.edges.iter().map(of_edge).fold(steepest, f64::max)
    }

    /// The weights, and how each changes with the direction: vectors perpendicular to `d`.
    ///
    /// With g the dual vectors of the corners,
    ///
    /// ```text
    ///   w_i = (g_i · d) / (Σ g · d)
    ///   ∇w_i = (g_i − w_i Σ g) / (Σ g · d)
    /// ```
    ///
    /// and likewise with the two tangents of an edge, where it grows without bound towards the pole of
    /// the arc, a quarter turn away. On an edge between two triangles, where the
    /// gradient jumps, it is that of one of them.
    pub(crate) fn weights_with_gradient(&self, d: DVec3) -> (Weights, [DVec3; 3]) {
        let place = self.locate(d);
        let weights = self.weights_at(place);
        let (duals, products) = match place {
            Place::Facet(facet, products) => (self.facets[facet].dual, products),
            Place::Edge(edge, [at_u, at_v]) => {
                let Edge { to_u, to_v, .. } = self.edges[edge];
                ([to_u, to_v, DVec3::ZERO], [at_u, at_v, 0.0])
            }
            Place::Corner(_) => return (weights, [DVec3::ZERO; 3]),
        };
        let sum = duals[0] + duals[1] + duals[2];
        let total = total(products);
        let mut gradients = [DVec3::ZERO; 3];
        for (gradient, (dual, product)) in gradients.iter_mut().zip(duals.iter().zip(products)) {
            *gradient = (*dual - product / total * sum) / total;
        }
        if !gradients.iter().all(|g| g.is_finite()) {
            gradients = [DVec3::ZERO; 3];
        }
        (weights, gradients)
    }

    fn weights_at(&self, place: Place) -> Weights {
        match place {
            Place::Facet(facet, products) => {
                let weights = normalised(products.map(|p| p.max(0.0)));
                Weights { corners: self.facets[facet].corners, weights }
            }
            Place::Edge(edge, [at_u, at_v]) => {
                let [u, v] = self.edges[edge].corners;
                Weights { corners: [u, v, u], weights: normalised([at_u, at_v, 0.0]) }
            }
            Place::Corner(corner) => Weights { corners: [corner; 3], weights: [1.0, 0.0, 0.0] },
        }
    }

    fn locate(&self, d: DVec3) -> Place {
        if !d.is_finite() {
            return Place::Corner(0);
        }
        if let Some((facet, products)) = self.walk(d) {
            return Place::Facet(facet, products);
        }
        self.nearest(d)
    }

    /// The facet that holds `d`, by a walk from the best seed across edges that `d` is beyond. Each
    /// step leads to a facet that is farther out along `d`, so that the walk ends.
    fn walk(&self, d: DVec3) -> Option<(usize, [f64; 3])> {
        let mut here = self.seeds.best(d)?;
        for _ in 0..=self.facets.len() {
            let facet = &self.facets[here];
            let products = facet.products(d);
            let (side, least) = smallest(products);
            if least >= 0.0 || (least >= -ROUNDING && total(products) > 0.0) {
                return Some((here, products));
            }
            match facet.neighbours[side] {
                OUTSIDE => return None,
                BEYOND => break,
                next => here = as_index(next),
            }
        }
        self.scan(d)
    }

    /// The facet that holds `d`, by looking at all.
    fn scan(&self, d: DVec3) -> Option<(usize, [f64; 3])> {
        let mut best = None;
        let mut best_least = -ROUNDING;
        for (index, facet) in self.facets.iter().enumerate() {
            let products = facet.products(d);
            let (_, least) = smallest(products);
            // Were all facets missed by more than rounding should do, on a closed surface one must
            // be taken nevertheless.
            let missed = best.is_none() && self.edges.is_empty();
            if total(products) > 0.0 && (least > best_least || (missed && least > -1.0)) {
                best = Some((index, products));
                best_least = least;
            }
        }
        best
    }

    /// The nearest point of the edges; the first of those equally near.
    fn nearest(&self, d: DVec3) -> Place {
        let mut best = (f64::INFINITY, Place::Corner(0));
        for (index, edge) in self.edges.iter().enumerate() {
            for (square, place) in edge.places(index, d) {
                // The square of the sum with what is equally near.
                let nearer =
                    || square + EQUALLY_NEAR * (2.0 * square.sqrt() + EQUALLY_NEAR) < best.0;
                if square < best.0 && nearer() {
                    best = (square, place);
                }
            }
        }
        best.1
    }

    /// Calls `visit` with every part of the border that is no more than `within` farther than the
    /// nearest, as a straight distance, for a direction outside of all triangles. Among them are all parts
    /// that are nearest to a direction less than half as far away.
    pub(crate) fn tied(&self, d: DVec3, within: f64, visit: &mut dyn FnMut(Tied)) {
        let all = || self.edges.iter().enumerate().map(|(i, edge)| (edge, edge.places(i, d)));
        let squares = all().flat_map(|(_, places)| places.map(|(square, _)| square));
        let least = squares.fold(f64::INFINITY, f64::min).sqrt();
        for (edge, places) in all() {
            for (square, place) in places {
                let chord = square.sqrt();
                if chord <= least + AROUND_POLE && d.cross(edge.normal).length() < AROUND_POLE {
                    visit(Tied::Between(edge.corners));
                }
                if chord <= least + within {
                    visit(Tied::At(self.weights_at(place)));
                }
            }
        }
    }
}

impl Facet {
    fn new(corners: [usize; 3], neighbours: [u32; 3], points: &[DVec3]) -> Self {
        let [a, b, c] = corners.map(|i| points[i]);
        // From differences, which are exact where they are small.
        let volume = (b - a).cross(c - a).dot(a);
        let dual = [b.cross(c - b), c.cross(a - c), a.cross(b - a)].map(|n| n / volume);
        Self { corners: corners.map(number), neighbours, a, b, dual }
    }

    /// `d · dual`. A corner that the dual vector is perpendicular to is taken off first: exact
    /// nearby.
    fn products(&self, d: DVec3) -> [f64; 3] {
        let (from_a, from_b) = (d - self.a, d - self.b);
        let [a, b, c] = self.dual;
        [from_b.dot(a), from_a.dot(b), from_a.dot(c)]
    }
}

impl Edge {
    fn new(link: [usize; 2], points: &[DVec3]) -> Self {
        let [u, v] = link.map(|i| points[i]);
        let normal = unit(u.cross(v - u)).unwrap_or(DVec3::ZERO);
        let corners = link.map(number);
        Self { corners, u, v, normal, to_u: v.cross(normal), to_v: normal.cross(u) }
    }

    /// Where it is nearest to `d`, with the square of the straight distance: a point between its ends,
    /// twice, or both ends.
    fn places(&self, index: usize, d: DVec3) -> [(f64, Place); 2] {
        let (at_u, at_v) = (d.dot(self.to_u), d.dot(self.to_v));
        if at_u >= 0.0 && at_v >= 0.0 && at_u + at_v > POLE {
            // The squared chord 2 − 2 cos δ, from sin δ.
            let sine = d.dot(self.normal);
            let square = (sine * sine).min(1.0);
            let chord = 2.0 * square / (1.0 + (1.0 - square).sqrt());
            return [(chord, Place::Edge(index, [at_u, at_v])); 2];
        }
        let [u, v] = self.corners.map(Place::Corner);
        [((d - self.u).length_squared(), u), ((d - self.v).length_squared(), v)]
    }
}

impl Seeds {
    fn new(facets: &[Facet]) -> Self {
        let mut seeds = Self::default();
        if facets.is_empty() {
            return seeds;
        }
        let count = facets.len().min(SEEDS);
        for seed in 0..count.next_multiple_of(LANES) {
            // Evenly over all; the last is repeated until the lanes are full.
            let facet = seed.min(count - 1) * facets.len() / count;
            let [a, b, c] = facets[facet].dual;
            let normal = a + b + c;
            if seed % LANES == 0 {
                seeds.rows.push([[0.0; LANES]; 3]);
            }
            for (column, value) in seeds.rows[seed / LANES].iter_mut().zip(normal.to_array()) {
                column[seed % LANES] = value;
            }
            seeds.facet.push(number(facet));
        }
        seeds
    }

    /// The facet with the largest product, the first of equals.
    fn best(&self, d: DVec3) -> Option<usize> {
        let mut products = [[f64::NEG_INFINITY; LANES]; SEEDS / LANES];
        let mut largest = [f64::NEG_INFINITY; LANES];
        for (row, products) in self.rows.iter().zip(&mut products) {
            let [x, y, z] = row;
            for lane in 0..LANES {
                products[lane] = x[lane] * d.x + y[lane] * d.y + z[lane] * d.z;
            }
            for lane in 0..LANES {
                let larger = products[lane] > largest[lane];
                largest[lane] = if larger { products[lane] } else { largest[lane] };
            }
        }
        let largest = largest.into_iter().fold(f64::NEG_INFINITY, f64::max);
        let mut seeds = 0_u64;
        for (row, products) in products.iter().enumerate() {
            let mut bits = [0_u64; LANES];
            for lane in 0..LANES {
                bits[lane] = if products[lane] == largest { 1 << lane } else { 0 };
            }
            let [a, b, c, e] = bits;
            seeds |= (a | b | c | e) << (row * LANES);
        }
        self.facet.get(seeds.trailing_zeros() as usize).map(|&facet| as_index(facet))
    }
}

const LANES: usize = 4;

/// The first of every group of directions that are the same.
fn distinct(directions: &[DVec3]) -> Vec<usize> {
    let mut distinct: Vec<usize> = Vec::new();
    for (index, &d) in directions.iter().enumerate() {
        let known = |&other: &usize| (directions[other] - d).length_squared() < SAME * SAME;
        if !distinct.iter().any(known) {
            distinct.push(index);
        }
    }
    distinct
}

/// The edges that join directions without a triangle: to each other, and to the triangles. Those that
/// nothing can be joined to are joined to themselves.
fn loose_links(points: &[DVec3], hull: &[HullFacet], kept: &[bool]) -> Vec<[usize; 2]> {
    let mut links =
        if kept.contains(&true) { spanning_links(points, hull, kept) } else { chain(points) };
    let mut joined = vec![false; points.len()];
    let corners = hull.iter().zip(kept).filter(|(_, kept)| **kept).flat_map(|(f, _)| f.corners);
    for corner in corners.chain(links.iter().flatten().copied()) {
        joined[corner] = true;
    }
    links.extend((0..points.len()).filter(|&i| !joined[i]).map(|i| [i, i]));
    links
}

/// Directions along one great circle, each joined to the next unless that is half a turn away.
fn chain(points: &[DVec3]) -> Vec<[usize; 2]> {
    let first = points[0];
    let mut normal = DVec3::ZERO;
    for &p in points {
        let across = first.cross(p);
        if across.length_squared() > normal.length_squared() {
            normal = across;
        }
    }
    let Some(normal) = unit(normal) else {
        return Vec::new();
    };
    let ahead = normal.cross(first);
    let mut order: Vec<(f64, usize)> = points
        .iter()
        .enumerate()
        .map(|(i, p)| (trig::atan2(p.dot(ahead), p.dot(first)), i))
        .collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));

    let mut links = Vec::new();
    for (i, &(angle, from)) in order.iter().enumerate() {
        let (next, to) = order.get(i + 1).copied().unwrap_or((order[0].0 + 2.0 * PI, order[0].1));
        if next - angle < PI - HALF_TURN_LESS && from != to {
            links.push([from, to]);
        }
    }
    links
}

/// The shortest edges of the hull that join directions without a triangle to the rest: a part of the
/// minimum spanning tree, which for points along a great circle is the chain of them.
fn spanning_links(points: &[DVec3], hull: &[HullFacet], kept: &[bool]) -> Vec<[usize; 2]> {
    let mut tree: Vec<usize> = (0..points.len()).collect();
    let mut candidates = Vec::new();
    for (facet, &kept) in hull.iter().zip(kept) {
        let [a, b, c] = facet.corners;
        for [u, v] in [[a, b], [b, c], [c, a]] {
            if kept {
                let (u, v) = (root(&mut tree, u), root(&mut tree, v));
                tree[u.max(v)] = u.min(v);
            } else if u < v {
                candidates.push(((points[u] - points[v]).length_squared(), [u, v]));
            }
        }
    }
    candidates.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut links = Vec::new();
    for (chord, [u, v]) in candidates {
        let roots = (root(&mut tree, u), root(&mut tree, v));
        if roots.0 != roots.1 && chord < 4.0 - HALF_TURN_LESS * HALF_TURN_LESS {
            tree[roots.0.max(roots.1)] = roots.0.min(roots.1);
            links.push([u, v]);
        }
    }
    links
}

fn root(tree: &mut [usize], mut node: usize) -> usize {
    while tree[node] != node {
        tree[node] = tree[tree[node]];
        node = tree[node];
    }
    node
}

/// Marks the border edges that some direction is beyond: there the region is not convex, because a
/// facet that is nearly a great circle was left out.
fn mark_reentrant(facets: &mut [Facet], points: &[DVec3]) {
    for facet in facets {
        for side in 0..3 {
            let beyond = |p: &DVec3| facet.products(*p)[side] < -ROUNDING;
            if facet.neighbours[side] == OUTSIDE && points.iter().any(beyond) {
                facet.neighbours[side] = BEYOND;
            }
        }
    }
}

/// A facet of the convex hull, corners counter-clockwise from outside.
#[derive(Clone, Copy, Debug)]
struct HullFacet {
    corners: [usize; 3],
    /// Opposite to each corner.
    neighbours: [usize; 3],
}

impl HullFacet {
    fn faces_out(&self, points: &[DVec3]) -> bool {
        let [a, b, c] = self.corners.map(|i| points[i]);
        let normal = (b - a).cross(c - a);
        normal.dot(a) >= MIN_COSINE * normal.length()
    }
}

/// The convex hull while it is being built.
#[derive(Debug)]
struct Hull {
    points: Vec<Point>,
    facets: Vec<HullFacet>,
    planes: Vec<Plane>,
    /// By corner: the new facet whose horizon edge starts there.
    starting: Vec<usize>,
}

type Point = [i64; 3];

/// A facet's plane for the quick test: outward normal, a point, and a bound on the error of the
/// normal's components.
#[derive(Clone, Copy, Debug)]
struct Plane {
    normal: DVec3,
    point: DVec3,
    error: f64,
}

impl Hull {
    /// The facets of the hull of distinct points on the unit sphere. Points in one plane have a
    /// front and no back; fewer than three have nothing.
    #[allow(clippy::new_ret_no_self, reason = "the builder is of no use afterwards")]
    fn new(points: &[DVec3]) -> Vec<HullFacet> {
        let grid: Vec<Point> = points.iter().map(|&p| grid_point(p)).collect();
        let Some([a, b, c, d]) = first_four(&grid) else {
            return plane_polygon(points);
        };
        let mut hull = Self {
            starting: vec![0; grid.len()],
            points: grid,
            facets: Vec::new(),
            planes: Vec::new(),
        };
        // Each facet is opposite to the corner of its own number.
        let opposite = |corner: usize| [a, b, c, d].iter().position(|&k| k == corner).unwrap_or(0);
        for corners in [[b, c, d], [a, d, c], [a, b, d], [a, c, b]] {
            hull.push(HullFacet { corners, neighbours: corners.map(opposite) });
        }
        for p in 0..points.len() {
            if ![a, b, c, d].contains(&p) {
                hull.insert(p);
            }
        }
        hull.facets
    }

    fn push(&mut self, facet: HullFacet) {
        self.planes.push(self.plane(&facet));
        self.facets.push(facet);
    }

    fn insert(&mut self, p: usize) {
        let is_seen: Vec<bool> = (0..self.facets.len()).map(|f| self.sees(f, p)).collect();
        let seen: Vec<usize> = (0..is_seen.len()).filter(|&f| is_seen[f]).collect();
        // The horizon: a closed walk around what is seen. New facets take the places of those that
        // go, and then new places; the horizon has two edges more than there are facets inside.
        let mut horizon: Vec<([usize; 2], usize)> = Vec::new();
        for &facet in &seen {
            let HullFacet { corners, neighbours } = self.facets[facet];
            for side in 0..3 {
                if !is_seen[neighbours[side]] {
                    let edge = [corners[(side + 1) % 3], corners[(side + 2) % 3]];
                    horizon.push((edge, neighbours[side]));
                }
            }
        }
        let mut added = Vec::new();
        let mut places = seen.iter().copied();
        for &([u, v], outer) in &horizon {
            let facet = HullFacet { corners: [u, v, p], neighbours: [0, 0, outer] };
            let place = if let Some(place) = places.next() {
                self.planes[place] = self.plane(&facet);
                self.facets[place] = facet;
                place
            } else {
                self.push(facet);
                self.facets.len() - 1
            };
            self.starting[u] = place;
            added.push((place, outer, [u, v]));
        }
        for &(place, outer, [u, v]) in &added {
            // Beyond the edge (v, p), opposite to u, is the facet that starts at v.
            let next = self.starting[v];
            self.facets[place].neighbours[0] = next;
            self.facets[next].neighbours[1] = place;
            let side = self.facets[outer].corners.iter().position(|&k| k != u && k != v);
            self.facets[outer].neighbours[side.unwrap_or(0)] = place;
        }
    }

    fn plane(&self, facet: &HullFacet) -> Plane {
        let [a, b, c] = facet.corners.map(|i| to_float(self.points[i]));
        let (ab, ac) = (b - a, c - a);
        // Differences are exact; each product and each difference of two rounds once.
        let (s, t) = (ab.abs(), ac.abs());
        let size = s.max_element() * t.max_element();
        Plane { normal: ab.cross(ac), point: a, error: 4.0 * f64::EPSILON * size }
    }

    /// Whether `p` is strictly on the outer side of a facet.
    fn sees(&self, facet: usize, p: usize) -> bool {
        let plane = self.planes[facet];
        let away = to_float(self.points[p]) - plane.point;
        let height = plane.normal.dot(away);
        // The normal's error, and three products and two sums of at most 2·size·|away|.
        let doubt = 6.0 * plane.error * (away.x.abs() + away.y.abs() + away.z.abs());
        if height.abs() > doubt {
            return height > 0.0;
        }
        let [a, b, c] = self.facets[facet].corners.map(|i| self.points[i]);
        volume([a, b, c, self.points[p]]) > 0
    }
}

/// Four points that are not in a plane, positively oriented, or `None` if all are in one.
fn first_four(points: &[Point]) -> Option<[usize; 4]> {
    if points.len() < 4 {
        return None;
    }
    // The three of a good triangle: no three points of a sphere are on a line.
    let far = |from: &dyn Fn(usize) -> f64| {
        (0..points.len()).fold((0, 0.0), |best, i| {
            let size = from(i);
            if size > best.1 { (i, size) } else { best }
        })
    };
    let at = |i: usize| to_float(points[i]);
    let a = 0;
    let (b, _) = far(&|i| (at(i) - at(a)).length_squared());
    let (c, _) = far(&|i| (at(b) - at(a)).cross(at(i) - at(a)).length_squared());
    let mut best = (0, 0_i128);
    for d in 0..points.len() {
        let v = volume([a, b, c, d].map(|i| points[i]));
        if v.abs() > best.1.abs() {
            best = (d, v);
        }
    }
    match best {
        (_, 0) => None,
        // The facet (a, b, c) of `Hull::new` is (a, c, b): the fourth point is on its inner side.
        (d, v) if v > 0 => Some([a, b, c, d]),
        (d, _) => Some([a, c, b, d]),
    }
}

/// Points in a plane, and so on a circle: a fan of triangles on the side away from the centre.
fn plane_polygon(points: &[DVec3]) -> Vec<HullFacet> {
    if points.len() < 3 {
        return Vec::new();
    }
    let a = points[0];
    let mut normal = DVec3::ZERO;
    let far =
        points.iter().fold(a, |b, &p| if (p - a).length() > (b - a).length() { p } else { b });
    for &p in points {
        let across = (far - a).cross(p - a);
        if across.length_squared() > normal.length_squared() {
            normal = across;
        }
    }
    if normal.dot(a) < 0.0 {
        normal = -normal;
    }
    let Some(normal) = unit(normal) else {
        return Vec::new();
    };
    let centre = normal * normal.dot(a);
    let (first, ahead) = (a - centre, normal.cross(a - centre));
    let mut order: Vec<(f64, usize)> = points
        .iter()
        .enumerate()
        .map(|(i, &p)| (trig::atan2((p - centre).dot(ahead), (p - centre).dot(first)), i))
        .collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));

    let last = points.len() - 3;
    let none = usize::MAX;
    (0..=last)
        .map(|i| HullFacet {
            corners: [order[0].1, order[i + 1].1, order[i + 2].1],
            neighbours: [
                none,
                if i < last { i + 1 } else { none },
                if i > 0 { i - 1 } else { none },
            ],
        })
        .collect()
}

/// Six times the signed volume of a tetrahedron: positive if d is on the side of (a, b, c) from which
/// they are counter-clockwise.
fn volume([a, b, c, d]: [Point; 4]) -> i128 {
    let from_a = |p: Point| [0, 1, 2].map(|k| i128::from(p[k]) - i128::from(a[k]));
    let (b, c, d) = (from_a(b), from_a(c), from_a(d));
    d[0] * (b[1] * c[2] - b[2] * c[1])
        + d[1] * (b[2] * c[0] - b[0] * c[2])
        + d[2] * (b[0] * c[1] - b[1] * c[0])
}

#[allow(clippy::cast_possible_truncation, reason = "a unit vector times 2⁴⁰, and `as` saturates")]
fn grid_point(p: DVec3) -> Point {
    (p.clamp(DVec3::NEG_ONE, DVec3::ONE) * GRID).to_array().map(|x| x.round() as i64)
}

#[allow(clippy::cast_precision_loss, reason = "at most 2⁴⁰, exact")]
fn to_float(p: Point) -> DVec3 {
    DVec3::from_array(p.map(|x| x as f64))
}

fn total([a, b, c]: [f64; 3]) -> f64 {
    a + b + c
}

fn smallest([a, b, c]: [f64; 3]) -> (usize, f64) {
    let (side, least) = if b < a { (1, b) } else { (0, a) };
    if c < least { (2, c) } else { (side, least) }
}

fn normalised(weights: [f64; 3]) -> [f64; 3] {
    let total = total(weights);
    if total > 0.0 && total.is_finite() { weights.map(|w| w / total) } else { [1.0, 0.0, 0.0] }
}

/// Indices are stored in half the space; there are few.
fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

const fn as_index(number: u32) -> usize {
    number as usize
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::math::{Angle, Rotation, angle_between, arbitrary};
    use crate::synth::Rng;

    fn on_circle(axis: DVec3, radius: f64, longitude: f64) -> DVec3 {
        let swing = Rotation::about_x(Angle::from_radians(radius));
        let turned = Rotation::about_z(Angle::from_radians(longitude)) * swing * DVec3::Z;
        crate::math::direct_rotation(DVec3::Z, axis).unwrap().rotation * turned
    }

    fn cap(rng: &mut Rng, count: usize, radius: f64) -> Vec<DVec3> {
        let axis = rng.direction();
        let mut point =
            || on_circle(axis, radius * rng.uniform().sqrt(), rng.between(0.0, 2.0 * PI));
        (0..count).map(|_| point()).collect()
    }

    fn great_circle(rng: &mut Rng, count: usize, from: f64, to: f64) -> Vec<DVec3> {
        let axis = rng.direction();
        (0..count).map(|_| on_circle(axis, 0.5 * PI, rng.between(from, to))).collect()
    }

    /// Sets of all the kinds that are hard for somebody.
    fn directions(u: &mut ::arbitrary::Unstructured<'_>) -> ::arbitrary::Result<Vec<DVec3>> {
        let mut rng = Rng::new(u.arbitrary()?);
        let count = u.int_in_range(1..=24)?;
        let turn = if u.arbitrary()? { rng.rotation() } else { Rotation::IDENTITY };
        let mut set = match u.int_in_range(0..=9)? {
            0 => (0..count).map(|_| rng.direction()).collect(),
            1 => {
                let radius = *u.choose(&[1e-4, 1e-2, 0.3, 1.0, 1.5, 1.58, 2.0, 3.0])?;
                cap(&mut rng, count, radius)
            }
            // Clusters.
            2 => (0..count.div_ceil(4)).flat_map(|_| cap(&mut rng, 4, 1e-3)).collect(),
            // A regular polygon, perhaps with its centre.
            3 => {
                let radius = *u.choose(&[1e-3, 0.4, 0.5 * PI - 1e-4, 0.5 * PI, 1.8])?;
                let step = 2.0 * PI / count as f64;
                let ring = (0..count).map(|i| on_circle(DVec3::Z, radius, step * i as f64));
                let centre: Option<DVec3> = u.arbitrary::<bool>()?.then_some(DVec3::Z);
                ring.chain(centre).collect()
            }
            // Latitudes and longitudes.
            4 => {
                let (rows, columns) = (u.int_in_range(1..=4)?, u.int_in_range(2..=7)?);
                let point = |i: i32, j: i32| {
                    let step = 2.0 * PI / f64::from(columns);
                    on_circle(DVec3::Z, 0.5 * f64::from(i), step * f64::from(j))
                };
                (0..=rows).flat_map(|i| (0..columns).map(move |j| point(i, j))).collect()
            }
            // The surface of a cube's grid: squares.
            5 => {
                let n = u.int_in_range(1..=2)?;
                let mut set = Vec::new();
                for (x, y, z) in (-n..=n)
                    .flat_map(|x| (-n..=n).flat_map(move |y| (-n..=n).map(move |z| (x, y, z))))
                {
                    if [x, y, z].iter().any(|k: &i32| k.abs() == n) {
                        set.push(DVec3::new(f64::from(x), f64::from(y), f64::from(z)).normalize());
                    }
                }
                set
            }
            6 => great_circle(&mut rng, count, 0.0, 2.0),
            7 => great_circle(&mut rng, count, 0.0, 2.0 * PI),
            // A line with something beside it.
            8 => {
                let mut set = great_circle(&mut rng, count, 0.0, 1.0);
                set.push(rng.direction());
                set
            }
            _ => {
                let mut set = Vec::new();
                for _ in 0..count {
                    set.push(arbitrary::direction(u)?);
                }
                set
            }
        };
        for d in &mut set {
            *d = unit(turn * *d).unwrap();
        }
        if u.ratio(1, 4)? {
            // The same ones again, exactly or nearly.
            let again: Vec<DVec3> =
                set.iter().map(|&d| unit(d + rng.direction() * 1e-9).unwrap()).collect();
            let first = set[0];
            set.extend(again);
            set.push(first);
        }
        Ok(set)
    }

    fn query(rng: &mut Rng, set: &[DVec3]) -> DVec3 {
        let pick = |rng: &mut Rng| set[rng.below(set.len())];
        let d = match rng.below(6) {
            0 => rng.direction(),
            1 => pick(rng),
            2 => pick(rng) + pick(rng),
            3 => pick(rng) + rng.direction() * 1e-3,
            4 => -pick(rng),
            _ => pick(rng) * rng.uniform() + pick(rng) * rng.uniform() + pick(rng) * rng.uniform(),
        };
        unit(d).unwrap_or(DVec3::Z)
    }

    fn corners(t: &Triangulation, facet: &Facet) -> [DVec3; 3] {
        facet.corners.map(|i| t.directions[i as usize])
    }

    fn directed_edges(facet: &Facet) -> [[u32; 2]; 3] {
        let [a, b, c] = facet.corners;
        [[b, c], [c, a], [a, b]]
    }

    fn value(w: &Weights, values: &[f64]) -> f64 {
        w.corners.iter().zip(w.weights).map(|(&i, w)| values[i as usize] * w).sum()
    }

    /// Rounding to 2⁻⁴⁰ moves four points by 8e-13 each, and amplifies in thin triangles; what the cap
    /// of radius 1 holds deeper than this is a mistake.
    const CAP_DEPTH: f64 = 1e-11;

    #[test]
    fn prop_no_direction_is_inside_the_cap_of_a_triangle() {
        arbtest::arbtest(|u| {
            let set = directions(u)?;
            let t = Triangulation::new(&set).unwrap();
            for facet in &t.facets {
                let [a, b, c] = corners(&t, facet);
                let normal = (b - a).cross(c - a);
                let area = normal.length();
                assert!(normal.dot(a) > 0.0, "{set:?} {facet:?}");
                for d in distinct(&set).into_iter().map(|i| set[i]) {
                    // The depth below the plane, by the thinness of the triangle: a third corner at
                    // height h over a side moves the plane 1/h as far as it moves itself.
                    let longest = (b - a).length().max((c - a).length()).max((c - b).length());
                    let thin = longest / area * (d - a).length().max(longest);
                    let depth = normal.dot(d - a) / area;
                    assert!(depth < CAP_DEPTH * thin.max(1.0), "{depth:e} {thin:e} {set:?}");
                }
            }
            Ok(())
        });
    }

    /// Neighbours know each other, every directed edge is there once, and a surface without border
    /// satisfies V − E + F = 2; one with a border in one piece, 1.
    #[test]
    fn prop_triangles_fit_together() {
        arbtest::arbtest(|u| {
            let set = directions(u)?;
            let t = Triangulation::new(&set).unwrap();
            let mut seen = BTreeMap::new();
            for (index, facet) in t.facets.iter().enumerate() {
                for (side, edge) in directed_edges(facet).into_iter().enumerate() {
                    assert!(seen.insert(edge, (index, facet.neighbours[side])).is_none());
                }
            }
            for (&[u, v], &(index, neighbour)) in &seen {
                match seen.get(&[v, u]) {
                    Some(&(other, back)) => {
                        assert_eq!((other, index), (neighbour as usize, back as usize));
                    }
                    None => {
                        assert!(neighbour == OUTSIDE || neighbour == BEYOND);
                        assert!(t.edges.iter().any(|e| e.corners == [u, v]));
                    }
                }
            }
            let vertices: BTreeSet<u32> = seen.keys().flatten().copied().collect();
            let edges: BTreeSet<[u32; 2]> =
                seen.keys().map(|&[u, v]| [u.min(v), u.max(v)]).collect();
            let euler = vertices.len() as i64 - edges.len() as i64 + t.facets.len() as i64;
            if t.facets.is_empty() {
                assert!(!t.edges.is_empty());
            } else if t.edges.is_empty() {
                assert_eq!(euler, 2);
            } else if t.edges.iter().all(|e| seen.contains_key(&e.corners)) {
                // Borders are closed; count them by walking.
                let mut next: BTreeMap<u32, u32> = BTreeMap::new();
                let simple =
                    t.edges.iter().all(|e| next.insert(e.corners[0], e.corners[1]).is_none());
                if simple {
                    let mut loops = 0;
                    while let Some((start, mut here)) = next.pop_first() {
                        loops += 1;
                        while here != start {
                            here = next.remove(&here).unwrap();
                        }
                    }
                    assert_eq!(euler, 2 - loops, "{set:?}");
                }
            }
            // Every direction is in it, or next to one that is.
            let mut used = vertices;
            used.extend(t.edges.iter().flat_map(|e| e.corners));
            for d in &set {
                assert!(used.iter().any(|&i| (set[i as usize] - *d).length() < SAME), "{set:?}");
            }
            Ok(())
        });
    }

    /// n² − (n − 1)(n + 1) = 1, which floats lose for n = 2³⁹: the exact sign decides.
    #[test]
    fn sides_of_a_plane_are_told_when_floats_cannot() {
        let n = 1_i64 << 39;
        let points =
            vec![[0, 0, 0], [n, n - 1, 0], [n + 1, n, 0], [0, 0, 1], [0, 0, -1], [n, 1, 0]];
        let mut hull =
            Hull { starting: vec![0; 6], points, facets: Vec::new(), planes: Vec::new() };
        hull.push(HullFacet { corners: [0, 1, 2], neighbours: [0; 3] });
        assert_eq!(hull.planes[0].normal, DVec3::ZERO);
        assert_eq!([3, 4, 5].map(|p| hull.sees(0, p)), [true, false, false]);
    }

    /// By Girard, the areas add up: to the sphere if it is covered.
    #[test]
    fn a_full_sphere_is_covered_once() {
        let mut rng = Rng::new(5);
        for count in [30, 200, 1000] {
            let set: Vec<DVec3> = (0..count).map(|_| rng.direction()).collect();
            let t = Triangulation::new(&set).unwrap();
            assert!(t.edges.is_empty());
            assert_eq!(t.facets.len(), 2 * count - 4);
            let area: f64 = t
                .facets
                .iter()
                .map(|f| {
                    let [a, b, c] = corners(&t, f);
                    let even = 1.0 + a.dot(b) + b.dot(c) + c.dot(a);
                    2.0 * trig::atan2(a.dot(b.cross(c)), even)
                })
                .sum();
            assert!((area - 4.0 * PI).abs() < 1e-10, "{area}");
        }
    }

    /// The border of a cap is its spherical hull: the arcs that have all directions on their left.
    #[test]
    fn the_border_of_a_cap_is_its_hull() {
        let mut rng = Rng::new(6);
        for round in 0..300 {
            let radius = [0.01, 0.3, 0.8, 1.2][round % 4];
            let count = 3 + rng.below(20);
            let set = cap(&mut rng, count, radius);
            let t = Triangulation::new(&set).unwrap();
            let got: BTreeSet<[u32; 2]> = t.edges.iter().map(|e| e.corners).collect();
            let mut expected = BTreeSet::new();
            for u in 0..set.len() {
                for v in (0..set.len()).filter(|&v| v != u) {
                    let normal = set[u].cross(set[v]);
                    if (0..set.len()).all(|k| k == u || k == v || normal.dot(set[k]) > 0.0) {
                        expected.insert([number(u), number(v)]);
                    }
                }
            }
            // A thin triangle that was left out makes a notch; its place is then taken by two sides.
            let convex = t.facets.iter().all(|f| !f.neighbours.contains(&BEYOND));
            if convex {
                assert_eq!(got, expected);
            }
            assert!(convex || got.len() > expected.len(), "{got:?} {expected:?}");
        }
    }

    #[test]
    fn fewer_than_three_directions_and_great_circles_are_chains() {
        let (x, y, z) = (DVec3::X, DVec3::Y, DVec3::Z);
        let count = |set: &[DVec3]| {
            let t = Triangulation::new(set).unwrap();
            assert!(t.facets.is_empty());
            let arcs = t.edges.iter().filter(|e| e.corners[0] != e.corners[1]).count();
            (arcs, t.edges.len() - arcs)
        };
        assert_eq!(count(&[x]), (0, 1));
        assert_eq!(count(&[x, x, x]), (0, 1));
        assert_eq!(count(&[x, y]), (1, 0));
        assert_eq!(count(&[x, -x]), (0, 2));
        assert_eq!(count(&[x, y, -x]), (2, 0));
        assert_eq!(count(&[x, -x, y, -y]), (4, 0));
        assert_eq!(count(&[x, -y, -x, y, (x + y).normalize()]), (5, 0));
        assert!(Triangulation::new(&[]).is_none());
        assert!(Triangulation::new(&vec![z; MAX_DIRECTIONS + 1]).is_none());
        // Half way along the chain both neighbours count half.
        let t = Triangulation::new(&[x, -x, y]).unwrap();
        let w = t.weights((y - x + z * 0.3).normalize());
        assert!((value(&w, &[0.0, 1.0, 3.0]) - 2.0).abs() < 1e-15);
    }

    #[test]
    fn prop_given_directions_get_their_own_values() {
        arbtest::arbtest(|u| {
            let set = directions(u)?;
            let t = Triangulation::new(&set).unwrap();
            for &i in &distinct(&set) {
                let w = t.weights(set[i]);
                let own: f64 =
                    (0..3).filter(|&k| w.corners[k] as usize == i).map(|k| w.weights[k]).sum();
                assert!((own - 1.0).abs() < 4.0 * ROUNDING, "{own} at {i} of {set:?}");
            }
            Ok(())
        });
    }

    /// Brute force: all facets for the inside, many points of all edges for the outside.
    #[test]
    fn prop_places_are_those_of_brute_force() {
        arbtest::arbtest(|u| {
            let set = directions(u)?;
            let mut rng = Rng::new(u.arbitrary()?);
            let t = Triangulation::new(&set).unwrap();
            for _ in 0..20 {
                let d = query(&mut rng, &set);
                let w = t.weights(d);
                assert!(w.weights.iter().all(|w| (0.0..=1.0).contains(w)), "{w:?}");
                assert!((w.weights.iter().sum::<f64>() - 1.0).abs() < 1e-15);
                let seen: DVec3 =
                    w.corners.iter().zip(w.weights).map(|(&i, w)| set[i as usize] * w).sum();
                let gap = angle_between(seen, d).radians();
                let held = t.facets.iter().any(|f| {
                    let [a, b, c] = corners(&t, f);
                    [a.cross(b), b.cross(c), c.cross(a)].iter().all(|n| n.dot(d) > 1e-13)
                });
                if held {
                    assert!(gap < 1e-9, "{gap:e} {d} {set:?}");
                }
                if gap < 1e-9 {
                    continue;
                }
                // It is a point of an edge, and none of any edge is nearer.
                for edge in &t.edges {
                    for step in 0..=50 {
                        let share = f64::from(step) / 50.0;
                        let point = edge.u * (1.0 - share) + edge.v * share;
                        let other = angle_between(point, d).radians();
                        // What is equally near by the straight distance 2 sin θ/2 may be this much farther
                        // by the angle: near the opposite that hardly grows.
                        let tied = EQUALLY_NEAR / trig::cos(0.5 * gap).max(EQUALLY_NEAR.sqrt());
                        assert!(gap <= other + tied + 1e-9, "{gap} {other} {d} {set:?}");
                    }
                }
            }
            Ok(())
        });
    }

    /// Many triangles: the walk finds what the scan finds.
    #[test]
    fn walks_end_where_scans_do() {
        let mut rng = Rng::new(7);
        for radius in [0.2, 1.4, 2.5, PI] {
            let set = cap(&mut rng, 700, radius);
            let t = Triangulation::new(&set).unwrap();
            assert!(t.facets.len() > SEEDS);
            for _ in 0..2000 {
                let d = query(&mut rng, &set);
                let (walked, scanned) = (t.walk(d), t.scan(d));
                assert_eq!(walked.is_some(), scanned.is_some(), "{d}");
                if let (Some((a, _)), Some((b, products))) = (walked, scanned) {
                    assert!(a == b || smallest(products).1 < 1e-9, "{d}");
                }
            }
        }
    }

    /// B9: small steps give small changes, from triangle to triangle and across the border.
    #[test]
    fn interpolation_is_continuous() {
        let mut rng = Rng::new(8);
        for _ in 0..100 {
            let count = 3 + rng.below(30);
            let set = cap(&mut rng, count, 1.0);
            let values: Vec<f64> = set.iter().map(|_| rng.between(-1.0, 1.0)).collect();
            let t = Triangulation::new(&set).unwrap();
            // The steepest triangle or edge: values differ by up to 2, over its height.
            let inside = t.facets.iter().flat_map(|f| f.dual).map(DVec3::length);
            let along = t.edges.iter().map(|e| 1.0 / angle_between(e.u, e.v).radians().min(0.5));
            let steepest = 10.0 * inside.chain(along).fold(1.0, f64::max);
            // Within a quarter turn of the cap the nearest point of it is unique.
            let (from, to) = (query(&mut rng, &set), set[0]);
            if angle_between(from, to).radians() > 1.5 {
                continue;
            }
            let mut last = value(&t.weights(from), &values);
            let steps = 20_000;
            for step in 1..=steps {
                let share = f64::from(step) / f64::from(steps);
                let d = unit(from * (1.0 - share) + to * share).unwrap();
                let next = value(&t.weights(d), &values);
                let change = (next - last).abs();
                assert!(change <= steepest * 2.0 / f64::from(steps), "{change:e} {steepest:e}");
                last = next;
            }
        }
    }

    /// An independent check of the values: a function that is linear on the sphere of which all
    /// corners are on one plane comes back exactly, and in a triangle n · d / m · d for all n does,
    /// with m · corner = 1.
    #[test]
    fn quotients_of_linear_functions_are_reproduced() {
        let mut rng = Rng::new(9);
        for _ in 0..200 {
            // On a circle: m = axis / cos radius.
            let (axis, radius) = (rng.direction(), rng.between(0.1, 1.4));
            let set: Vec<DVec3> =
                (0..12).map(|_| on_circle(axis, radius, rng.between(0.0, 2.0 * PI))).collect();
            let n = rng.direction();
            let values: Vec<f64> = set.iter().map(|d| n.dot(*d)).collect();
            let t = Triangulation::new(&set).unwrap();
            let d = unit(set[0] + set[1] + set[2] + set[3]).unwrap();
            let expected = n.dot(d) * trig::cos(radius) / axis.dot(d);
            let got = value(&t.weights(d), &values);
            assert!((got - expected).abs() < 1e-9, "{got} {expected}");
        }
    }

    #[test]
    fn prop_gradients_are_those_of_finite_differences() {
        arbtest::arbtest(|u| {
            let set = directions(u)?;
            let mut rng = Rng::new(u.arbitrary()?);
            let t = Triangulation::new(&set).unwrap();
            for _ in 0..20 {
                let d = query(&mut rng, &set);
                let (w, gradients) = t.weights_with_gradient(d);
                assert_eq!(w, t.weights(d));
                let steepest = gradients.iter().map(|g| g.length()).fold(0.0, f64::max);
                for g in gradients {
                    assert!(g.dot(d).abs() <= 1e-13 * steepest.max(1.0), "{g} {d} {set:?}");
                }
                let across = rng.perpendicular(d);
                let step = 1e-5 / steepest.max(1.0);
                let at = |s: f64| t.weights(unit(d + across * s).unwrap());
                let ends = [at(step), at(-step)];
                // On one side of every edge only.
                let [a, _, c] = w.corners;
                let counted = if a == c { 2 } else { 3 };
                let near_an_end = w.weights[..counted].iter().any(|w| *w < 1e-4);
                if steepest > 1e6 || ends.iter().any(|e| e.corners != w.corners) || near_an_end {
                    continue;
                }
                // The ends of the step round to ε, which is this much of its length.
                let tolerance = 1e-6 + 4.0 * f64::EPSILON / step;
                for (k, gradient) in gradients.iter().enumerate() {
                    let quotient = (ends[0].weights[k] - ends[1].weights[k]) / (2.0 * step);
                    let error = (quotient - gradient.dot(across)).abs();
                    assert!(error <= tolerance * steepest.max(1.0), "{error:e} {d} {w:?} {set:?}");
                }
            }
            Ok(())
        });
    }

    #[test]
    fn prop_any_vector_gets_finite_weights() {
        arbtest::arbtest(|u| {
            let set = directions(u)?;
            let t = Triangulation::new(&set).unwrap();
            let special =
                [0.0, -1.0, 1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, 1e-320];
            let mut d = DVec3::ZERO;
            for k in 0..3 {
                d[k] = *u.choose(&special)?;
            }
            let (w, gradients) = t.weights_with_gradient(d);
            assert!((w.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{d} {w:?}");
            assert!(w.corners.iter().all(|&i| (i as usize) < set.len()));
            assert!(gradients.iter().all(|g| g.is_finite()), "{d} {gradients:?}");
            Ok(())
        });
    }
}
