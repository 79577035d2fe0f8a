//! `condyle corpus`.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use condyle::estimate::{
    Estimate as Found, EstimateOptions, Method, Summary, Take, estimate_paired,
};
use condyle::formats::{
    MotionFile, Pairing, ReadOptions, WarningKind, read_file, size_notice, skeleton_of,
};
use condyle::skeleton::{JointIndex, RestPart, Skeleton, rests_differ};
use serde_json::{Map, Value, json};

use super::estimate::{
    Moving, Origin, Target, clip_of, deliver, existing, failure_of, same_figure, warn_of_idle,
    with_path,
};
use super::figure_axes::told_names;
use super::motions::idle;
use super::stats::estimated;
use super::{Answer, body};
use crate::args::Corpus;
use crate::output::{Failure, counted, print_warning, printable, progress, some_of, working};

/// Bytes of memory for each joint and frame while all motion is held: the clip, what is relative to
/// rest, and room to sort it.
const BYTES_EACH: f64 = 100.0;

/// A motion to read.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Job {
    path: PathBuf,
    /// The ASF of an AMC.
    skeleton: Option<PathBuf>,
}

pub(super) fn run(args: &Corpus) -> Result<Answer, Failure> {
    warn_of_idle(&args.how);
    let Corpus { output, fresh, json, reading, .. } = args;
    let target = Target { output, fresh: *fresh, json: *json, strict: reading.strict() };
    let options = args.how.options();
    if !args.two_pass && (options.method == Method::Paper || options.coverage < 1.0) {
        let what = "--method paper and --coverage need all samples at once";
        return Err(Failure::usage(what, "add --two-pass, which holds them in memory"));
    }
    if !args.names.map.is_empty() && !args.symmetrise {
        let help =
            "leave it out, or add --two-pass --symmetrise, which has to know left from right";
        return Err(idle("--map", "an estimate of each side by itself", help));
    }
    let there = existing(&target)?;
    let (jobs, mut unread) = walk(&args.folders)?;
    if jobs.is_empty() {
        let places: Vec<String> = args.folders.iter().map(|f| f.display().to_string()).collect();
        let places: Vec<&str> = places.iter().map(String::as_str).collect();
        let what = format!("there are no motion files in {}", some_of(&places));
        let help = "read are .bvh, and .amc with its .asf in the same folder";
        return Err(nothing_left(unread, Failure::usage(what, help)));
    }
    let pass = Pass::over(&jobs, args, &options);
    let Pass { groups, problems, .. } = pass;
    let mut sum = Sum::of(groups, &jobs);
    unread.extend(problems.into_values());
    if sum.files.is_empty() {
        let what = match jobs.len() {
            1 => "the only file could not be read".to_owned(),
            n => format!("none of {n} files could be read"),
        };
        let failure = Failure::usage(what, "condyle info FILE says more about one of them");
        return Err(nothing_left(unread, failure));
    }
    let mut symmetrised = None;
    let mut found = if args.two_pass {
        let found;
        (found, symmetrised) = exactly(&sum, &jobs, args, &options)?;
        found
    } else {
        let mut found = estimated(&sum.all, &options)?;
        found.warnings.extend(sum.warnings(&found.skeleton, &jobs));
        found
    };
    if sum.leading > 0 && !args.two_pass {
        let files = counted(sum.leading, "file begins", "files begin");
        found
            .warnings
            .push(format!("{files} with a pose in front of the motion, which is left out"));
    }
    if let Some(old) = &there {
        let whose = sum.figure.first().map_or(Path::new(""), |i| &jobs[*i].path);
        same_figure(old, &target, &found.skeleton, whose)?;
    }
    let mut origin = origin(&sum, &jobs, &unread);
    origin.lines.extend(symmetrised);
    let answer = deliver(&target, there, &found, &origin)?;
    unread.iter().for_each(Failure::print);
    sum.skipped.drain(..).for_each(|problem| problem.print());
    Ok(answer)
}

/// Why there is nothing to work with, after what is wrong with each file.
pub(super) fn nothing_left(mut unread: Vec<Failure>, failure: Failure) -> Failure {
    unread.push(failure);
    unread.iter().for_each(Failure::print);
    Failure::Told(unread.iter().flat_map(Failure::json).collect())
}

fn origin(sum: &Sum, jobs: &[Job], unread: &[Failure]) -> Origin {
    let mut json = Map::new();
    let files: Value = sum
        .files
        .iter()
        .zip(&sum.frames)
        .map(|(i, frames)| json!({ "path": jobs[*i].path.display().to_string(), "frames": frames }))
        .collect();
    let told = |all: &[Failure]| all.iter().flat_map(Failure::json).collect::<Value>();
    json.insert("files".to_owned(), files);
    json.insert("unreadable".to_owned(), told(unread));
    json.insert("skipped".to_owned(), told(&sum.skipped));
    let mut lines = Vec::new();
    if sum.notices > 0 {
        let warnings = counted(sum.notices, "warning", "warnings");
        lines.push(format!("{warnings} while reading; condyle info FILE shows those of a file."));
    }
    if !unread.is_empty() {
        let files = counted(unread.len(), "file", "files");
        lines.push(format!("{files} could not be read: see the end."));
    }
    if !sum.skipped.is_empty() {
        let files = counted(sum.skipped.len(), "file is", "files are");
        lines.push(format!("{files} of another figure and left out: see the end."));
    }
    let what = format!(" of {}", counted(sum.files.len(), "file", "files"));
    Origin { what, json, lines, ..Origin::default() }
}

/// The motions in folders, sorted, each once; and what is in the way.
fn walk(folders: &[PathBuf]) -> Result<(Vec<Job>, Vec<Failure>), Failure> {
    let mut jobs = Vec::new();
    let mut problems = Vec::new();
    let sign = working("looking for files");
    for folder in folders {
        let kind = fs::metadata(folder).map_err(|error| {
            let what = format!("cannot be read: {error}");
            Failure::file(folder, what, "name a folder that is there")
        })?;
        if kind.is_dir() {
            walk_one(folder, &mut jobs, &mut problems);
        } else {
            let beside = folder.parent().map(list).and_then(Result::ok).unwrap_or_default();
            let files: Vec<PathBuf> = beside.into_iter().map(|(path, _)| path).collect();
            if !is(folder, "bvh") && !is(folder, "amc") {
                let what = "is neither BVH nor AMC".to_owned();
                problems.push(Failure::file(folder, what, "corpus reads motion of these formats"));
            }
            add(folder, &files, &mut jobs, &mut problems);
        }
    }
    sign.finish_and_clear();
    // Folders within each other lead to the same files.
    let mut seen = BTreeSet::new();
    jobs.sort();
    jobs.retain(|job| seen.insert(fs::canonicalize(&job.path).unwrap_or(job.path.clone())));
    Ok((jobs, problems))
}

fn walk_one(folder: &Path, jobs: &mut Vec<Job>, problems: &mut Vec<Failure>) {
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        let entries = match list(&folder) {
            Ok(entries) => entries,
            Err(error) => {
                let what = format!("cannot be read: {error}");
                problems.push(Failure::file(&folder, what, "check who may read the folder"));
                continue;
            }
        };
        let files: Vec<PathBuf> =
            entries.iter().filter(|(_, is_folder)| !is_folder).map(|(p, _)| p.clone()).collect();
        for file in &files {
            add(file, &files, jobs, problems);
        }
        open.extend(entries.into_iter().filter(|(_, is_folder)| *is_folder).map(|(p, _)| p));
    }
}

/// What is in a folder, sorted, and whether it is a folder. Links to folders are not followed: they
/// might lead back.
fn list(folder: &Path) -> std::io::Result<Vec<(PathBuf, bool)>> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let mut all = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let is_folder = entry.file_type()?.is_dir();
        all.push((entry.path(), is_folder));
    }
    all.sort();
    Ok(all)
}

fn is(path: &Path, extension: &str) -> bool {
    path.extension().and_then(OsStr::to_str).is_some_and(|e| e.eq_ignore_ascii_case(extension))
}

/// Adds a file if it is a motion, an AMC with its skeleton from among the files beside it.
fn add(file: &Path, beside: &[PathBuf], jobs: &mut Vec<Job>, problems: &mut Vec<Failure>) {
    if is(file, "bvh") {
        jobs.push(Job { path: file.to_owned(), skeleton: None });
    } else if is(file, "amc") {
        let asfs: Vec<&PathBuf> = beside.iter().filter(|path| is(path, "asf")).collect();
        let found = skeleton_of(file, &asfs);
        match found.skeleton().and_then(|i| asfs.get(i)) {
            Some(asf) => {
                if found == Pairing::OtherSubject {
                    let skeleton = (*asf).clone();
                    let kind = WarningKind::OtherSubject { skeleton };
                    print_warning(&format!("{}: {kind}", file.display()));
                }
                jobs.push(Job { path: file.to_owned(), skeleton: Some((*asf).clone()) });
            }
            None => problems.push(Failure::file(
                file,
                "its skeleton was not found",
                "put one .asf beside it, or one with the name that its own begins with: 02.asf for \
                 02_01.amc",
            )),
        }
    }
}

/// Reads motions, each on one thread.
struct Reader {
    options: ReadOptions,
    samples: Option<u32>,
    /// The last skeleton of an AMC: those that follow each other mostly have the same.
    skeleton: Mutex<Option<(PathBuf, Arc<MotionFile>)>>,
}

impl Reader {
    fn new(args: &Corpus) -> Self {
        let options = ReadOptions { threads: NonZeroUsize::MIN, ..args.reading.options() };
        Self { options, samples: args.how.sampling.samples, skeleton: Mutex::default() }
    }

    /// A motion, and how many warnings there were.
    fn read(&self, job: &Job) -> Result<(Moving, usize), Failure> {
        let skeleton = job.skeleton.as_deref().map(|path| self.skeleton(path)).transpose()?;
        let read = read_file(&job.path, skeleton.as_deref(), &self.options)?;
        let size = size_notice(&read.file.skeleton, read.file.units);
        let notices = read.warnings.len() + usize::from(size.is_some());
        let clip = clip_of(&job.path, read, self.samples)?;
        if clip.clip.frame_count() == 0 {
            return Err(Failure::file(&job.path, "has no frames", "get the file again"));
        }
        Ok((clip, notices))
    }

    fn skeleton(&self, path: &Path) -> Result<Arc<MotionFile>, Failure> {
        let last = || self.skeleton.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, skeleton)) = &*last()
            && of == path
        {
            return Ok(skeleton.clone());
        }
        let skeleton = read_file(path, None, &self.options)?.file;
        let skeleton = Arc::new(skeleton);
        *last() = Some((path.to_owned(), skeleton.clone()));
        Ok(skeleton)
    }
}

/// Names of joints, sorted, with their parents.
type Shape = Vec<(String, Option<String>)>;

/// A skeleton at rest, and the files that have it.
type Rests = (Skeleton, BTreeSet<usize>);

/// Files whose joints have the same names and parents: their summaries never contradict each other.
#[derive(Default)]
struct Group {
    all: Summary,
    /// Each with its frames.
    files: BTreeMap<usize, usize>,
    /// By the bits of its rotations and offsets.
    rests: BTreeMap<Vec<[u64; 7]>, Rests>,
    /// How many files have a pose in front of the motion.
    leading: usize,
    /// How many warnings there were while reading.
    notices: usize,
}

impl Group {
    fn add(
        &mut self,
        file: usize,
        (clip, notices): &(Moving, usize),
        one: &Summary,
    ) -> Result<(), Failure> {
        if let Err(error) = self.all.merge(one) {
            let what = printable(&error.to_string());
            return Err(Failure::file(&clip.path, what, "make rigs of parts of the corpus"));
        }
        let skeleton = &clip.skeleton;
        let mut joints: Vec<JointIndex> = skeleton.indices().collect();
        joints.sort_by(|a, b| skeleton[*a].name.cmp(&skeleton[*b].name));
        let bits = joints.iter().map(|j| {
            let ([w, x, y, z], offset) = (skeleton[*j].rest.to_wxyz(), skeleton[*j].offset_m);
            [w, x, y, z, offset.x, offset.y, offset.z].map(f64::to_bits)
        });
        let rests = self.rests.entry(bits.collect());
        rests.or_insert_with(|| (skeleton.clone(), BTreeSet::new())).1.insert(file);
        self.files.insert(file, clip.clip.frame_count());
        self.leading += usize::from(clip.clip.has_leading_pose());
        self.notices += notices;
        Ok(())
    }
}

fn shape_of(skeleton: &Skeleton) -> Shape {
    let parent = |j| skeleton.parent(j).map(|p| skeleton[p].name.clone());
    let mut shape: Shape =
        skeleton.indices().map(|j| (skeleton[j].name.clone(), parent(j))).collect();
    shape.sort();
    shape
}

/// What one reading of all files gives. It does not depend on who reads which file when: summaries of
/// one shape are merged in any order to the same bits.
#[derive(Default)]
struct Pass {
    groups: BTreeMap<Shape, Group>,
    problems: BTreeMap<usize, Failure>,
}

impl Pass {
    fn over(jobs: &[Job], args: &Corpus, options: &EstimateOptions) -> Self {
        let bar = progress(jobs.len(), "reading");
        let reader = Reader::new(args);
        let alone = EstimateOptions { threads: NonZeroUsize::MIN, ..*options };
        let pass = Mutex::new(Self::default());
        each(jobs.len(), options.threads, |i| {
            let read = reader.read(&jobs[i]);
            let one = read.map(|read| {
                let one = Summary::of_take(&read.0.skeleton, &read.0.clip, &alone);
                (shape_of(&read.0.skeleton), read, one)
            });
            let mut pass = pass.lock().unwrap_or_else(PoisonError::into_inner);
            let added = one.and_then(|(shape, read, one)| {
                pass.groups.entry(shape).or_default().add(i, &read, &one)
            });
            if let Err(problem) = added {
                pass.problems.insert(i, problem);
            }
            drop(pass);
            bar.inc(1);
        });
        bar.finish_and_clear();
        pass.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs some work for every number below `n`, on some threads.
fn each(n: usize, threads: NonZeroUsize, work: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(0);
    let run = || {
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            if i >= n {
                return;
            }
            work(i);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.get().min(n) {
            // One that cannot be started is done without.
            if std::thread::Builder::new().spawn_scoped(scope, run).is_err() {
                break;
            }
        }
        run();
    });
}

/// The groups that go together, in one.
#[derive(Default)]
struct Sum {
    all: Summary,
    /// Sorted.
    files: Vec<usize>,
    /// Those of the figure that the others were compared with.
    figure: Vec<usize>,
    /// Of each file.
    frames: Vec<usize>,
    /// How many joints and frames there are, multiplied.
    size: f64,
    rests: Vec<Rests>,
    skipped: Vec<Failure>,
    leading: usize,
    notices: usize,
}

impl Sum {
    /// The largest group is the figure, of several the one with the first file. Others follow, the
    /// larger and then the earlier first; those that contradict the ones before are left out.
    fn of(groups: BTreeMap<Shape, Group>, jobs: &[Job]) -> Self {
        let mut sum = Self::default();
        let mut names: BTreeSet<String> = BTreeSet::new();
        let mut files: BTreeMap<usize, usize> = BTreeMap::new();
        let mut skipped: BTreeMap<usize, Failure> = BTreeMap::new();
        let mut groups: Vec<(Shape, Group)> =
            groups.into_iter().filter(|(_, group)| !group.files.is_empty()).collect();
        groups.sort_by_key(|(_, group)| {
            (Reverse(group.files.len()), group.files.keys().next().copied())
        });
        let figure: Vec<usize> = groups
            .first()
            .map(|(_, group)| group.files.keys().copied().collect())
            .unwrap_or_default();
        let first = figure.first().map(|i| jobs[*i].path.display().to_string()).unwrap_or_default();
        for (shape, group) in groups {
            let strange = !names.is_empty() && !shape.iter().any(|(name, _)| names.contains(name));
            let error = if strange {
                Some("it has none of their joints".to_owned())
            } else {
                sum.all.merge(&group.all).err().map(|e| printable(&e.to_string()))
            };
            if let Some(error) = error {
                for file in group.files.keys() {
                    let what = format!("is of another figure than {first}: {error}");
                    let help = "estimate each figure by itself";
                    skipped.insert(*file, Failure::file(&jobs[*file].path, what, help));
                }
                continue;
            }
            names.extend(shape.iter().map(|(name, _)| name.clone()));
            let frames: usize = group.files.values().sum();
            sum.size += frames as f64 * shape.len() as f64;
            sum.leading += group.leading;
            sum.notices += group.notices;
            files.extend(&group.files);
            sum.rests.extend(group.rests.into_values());
        }
        sum.figure = figure;
        (sum.files, sum.frames) = files.into_iter().unzip();
        sum.skipped = skipped.into_values().collect();
        sum
    }

    /// Files whose rest pose is another than the one that the rig has: those that differ in the same
    /// joints together.
    fn warnings(&self, skeleton: &Skeleton, jobs: &[Job]) -> Vec<String> {
        let mut differ: BTreeMap<(bool, Vec<String>), BTreeSet<usize>> = BTreeMap::new();
        for (own, who) in &self.rests {
            let found = rests_differ(skeleton, own);
            for part in [RestPart::Rotation, RestPart::Bone] {
                let of = found.iter().filter(|differ| differ.of == part);
                let joints: Vec<String> = of.map(|differ| differ.joint.clone()).collect();
                if !joints.is_empty() {
                    differ.entry((part == RestPart::Bone, joints)).or_default().extend(who);
                }
            }
        }
        let mut warnings: Vec<(usize, String)> = Vec::new();
        for ((bones, joints), who) in &differ {
            let (Some(first), Some(file)) = (joints.first(), who.first()) else { continue };
            let more = match who.len() - 1 {
                0 => String::new(),
                n => format!(" and {n} more"),
            };
            let path = jobs[*file].path.display();
            let joints = match joints.len() {
                1 => format!("{first:?}"),
                n => format!("{n} joints, {first:?} among them,"),
            };
            let text = match bones {
                false => format!(
                    "{path}{more}: the rest pose of {joints} is another than in the rig; each file is \
                     relative to its own"
                ),
                true => format!(
                    "{path}{more}: at rest the bones to {joints} point another way than in the rig, so \
                     that the same angles are other poses; estimate them apart"
                ),
            };
            warnings.push((*file, text));
        }
        warnings.sort();
        warnings.into_iter().map(|(_, text)| text).collect()
    }
}

/// All motion at once, and what was symmetrised.
fn exactly(
    sum: &Sum,
    jobs: &[Job],
    args: &Corpus,
    options: &EstimateOptions,
) -> Result<(Found, Option<String>), Failure> {
    let needed = sum.size * BYTES_EACH / 1e9;
    if needed > args.memory {
        let needed = match (1000.0 * needed).ceil() {
            megabytes if megabytes < 100.0 => format!("{megabytes} MB"),
            _ => format!("{needed:.1} GB"),
        };
        let what = format!(
            "--two-pass would hold about {needed} of motion in memory, more than {} GB",
            args.memory
        );
        let help =
            "leave it out (ends of limits are then right within 1°), or allow more by --memory";
        return Err(Failure::usage(what, help));
    }
    // Those of the figure first: its joints are estimated.
    let others = sum.files.iter().filter(|file| sum.figure.binary_search(file).is_err());
    let files: Vec<usize> = sum.figure.iter().chain(others).copied().collect();
    let bar = progress(files.len(), "reading again");
    let reader = Reader::new(args);
    let read_again = Mutex::new(BTreeMap::new());
    each(files.len(), options.threads, |i| {
        let clip = reader.read(&jobs[files[i]]);
        read_again.lock().unwrap_or_else(PoisonError::into_inner).insert(i, clip);
        bar.inc(1);
    });
    bar.finish_and_clear();
    let mut clips = Vec::new();
    for clip in read_again.into_inner().unwrap_or_else(PoisonError::into_inner).into_values() {
        clips.push(clip?.0);
    }
    let takes: Vec<Take<'_>> =
        clips.iter().map(|c| Take { skeleton: &c.skeleton, clip: &c.clip }).collect();
    let first = clips.first().filter(|_| args.symmetrise);
    let told = |first: &Moving| {
        told_names(&first.path, &first.skeleton, &[&first.clip], &args.names, true)
    };
    let anatomy = first.map(told).transpose()?.and_then(|(_, anatomy)| anatomy);
    let pairs = first.map(|first| body::pairs(anatomy.as_ref(), first)).transpose()?;
    let sign = working("estimating");
    let found = estimate_paired(&takes, &pairs.unwrap_or_default(), None, options);
    sign.finish_and_clear();
    let mut found = found.map_err(|error| failure_of(&error, &clips))?;
    let symmetrised = anatomy.as_ref().map(|anatomy| {
        anatomy.symmetrise(&found.skeleton, &mut found.joints);
        body::symmetrised(anatomy, &found.skeleton)
    });
    for warning in &mut found.warnings {
        *warning = with_path(warning, &clips);
    }
    Ok((found, symmetrised))
}
