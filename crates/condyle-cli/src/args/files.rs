//! Which files a command reads, and which it writes: one table for all commands.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use clap::Args;
use condyle::formats::{FileKind, Format, is_same_file};

use super::{Command, LimitsCommand};

/// What may be replaced; for commands that write no motion.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Replacing {
    /// Replace what is in the way: one of the inputs, a file of another kind, or a rig in which somebody has
    /// worked
    #[arg(long)]
    pub(crate) force: bool,
}

/// The files of a command.
#[derive(Debug, Default)]
pub(crate) struct Files<'a> {
    /// What is read and has to stay.
    pub(crate) inputs: Vec<&'a Path>,
    pub(crate) outputs: Vec<Output<'a>>,
    /// Whether what is in the way may be replaced.
    pub(crate) force: bool,
}

/// A file to be written.
#[derive(Debug)]
pub(crate) struct Output<'a> {
    pub(crate) path: Cow<'a, Path>,
    pub(crate) kind: OutputKind,
    /// Whether standard output can have it, as `-`.
    pub(crate) main: bool,
}

/// What is written to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputKind {
    /// Motion in the format of the extension.
    Motion,
    /// The same of each motion that is read; of several, in a folder.
    Motions,
    /// A rig that is brought up to date if it is there. Reading it tells whether it is a rig.
    Updated,
    /// This kind.
    New(FileKind),
}

impl OutputKind {
    /// The kind of file that a path will have.
    pub(crate) fn of(self, path: &Path) -> Option<FileKind> {
        match self {
            Self::Motion | Self::Motions => Format::of_path(path).map(FileKind::Motion),
            Self::Updated => Some(FileKind::Rig),
            Self::New(kind) => Some(kind),
        }
    }
}

impl<'a> Files<'a> {
    fn read(inputs: impl IntoIterator<Item = &'a PathBuf>) -> Self {
        // Standard input is no file, and not standard output.
        let inputs = inputs.into_iter().map(PathBuf::as_path).filter(|p| *p != Path::new("-"));
        Self { inputs: inputs.collect(), ..Self::default() }
    }

    fn also(mut self, inputs: impl IntoIterator<Item = &'a PathBuf>) -> Self {
        self.inputs.extend(Self::read(inputs).inputs);
        self
    }

    fn written(mut self, path: &'a Path, kind: OutputKind) -> Self {
        self.outputs.push(Output { path: path.into(), kind, main: true });
        self
    }

    fn beside(mut self, path: Option<&'a PathBuf>, kind: FileKind) -> Self {
        let output = |path: &'a PathBuf| Output {
            path: path.as_path().into(),
            kind: OutputKind::New(kind),
            main: false,
        };
        self.outputs.extend(path.map(output));
        self
    }

    fn forced(mut self, force: bool) -> Self {
        self.force = force;
        self
    }
}

/// A table of dials if it ends in `.csv`, else motion.
fn dials_or_motion(path: &Path) -> OutputKind {
    match path.extension().is_some_and(|e| e.eq_ignore_ascii_case("csv")) {
        true => OutputKind::New(FileKind::Table),
        false => OutputKind::Motion,
    }
}

/// A rig that is there is brought up to date, unless it is to be replaced.
fn rig(fresh: bool) -> OutputKind {
    if fresh { OutputKind::New(FileKind::Rig) } else { OutputKind::Updated }
}

impl Command {
    /// The files that it reads and writes, as far as its arguments tell.
    pub(crate) fn files(&self) -> Files<'_> {
        use OutputKind::{Motion, Motions, New};
        match self {
            Self::Anatomy(a) => {
                let output = a.output.as_ref().filter(|path| *path != Path::new("-"));
                Files::read(&a.files)
                    .also(&a.standing.names.map)
                    .beside(output, FileKind::NameTable)
                    .forced(a.replacing.force)
            }
            Self::Info(_)
            | Self::Check(_)
            | Self::Match(_)
            | Self::Completions { .. }
            | Self::Man { .. } => Files::default(),
            Self::Convert(a) => {
                Files::read(&a.files).written(&a.output, Motions).forced(a.writing.force())
            }
            Self::Resample(a) => {
                Files::read(&a.files).written(&a.output, Motions).forced(a.writing.force())
            }
            Self::Trim(a) => {
                Files::read(&a.files).written(&a.output, Motions).forced(a.writing.force())
            }
            Self::Transform(a) => {
                Files::read(&a.files).written(&a.output, Motions).forced(a.writing.force())
            }
            Self::Mirror(a) => {
                Files::read(&a.files).written(&a.output, Motions).forced(a.writing.force())
            }
            Self::Blend(a) => Files::read(&a.files)
                .also(&a.limits.rig)
                .written(&a.output, Motion)
                .forced(a.writing.force()),
            Self::Retarget(a) => Files::read(&a.files)
                .also([&a.onto])
                .also(&a.limits.rig)
                .written(&a.output, Motions)
                .forced(a.writing.force()),
            Self::Connect(a) => Files::read(&a.files)
                .also(&a.limits.rig)
                .written(&a.output, Motion)
                .beside(a.report.as_ref(), FileKind::Page)
                .forced(a.writing.force()),
            Self::Clamp(a) => Files::read(&a.files)
                .also([&a.limits.rig])
                .written(&a.output, Motions)
                .forced(a.writing.force()),
            Self::Ik(a) => Files::read(&a.files)
                .also(&a.goals)
                .also(&a.solving.rig)
                .written(&a.output, Motion)
                .forced(a.writing.force()),
            Self::Limits(LimitsCommand::Show(a)) => {
                let files = Files::read([&a.rig]).forced(a.replacing.force);
                match &a.output {
                    Some(output) => files.written(output, New(FileKind::Picture)),
                    None => files,
                }
            }
            Self::Limits(LimitsCommand::Preset(a)) => {
                let files = Files::default().forced(a.replacing.force);
                match &a.output {
                    Some(output) => files.written(output, New(FileKind::Rig)),
                    None => files,
                }
            }
            Self::Couple(a) => {
                // The rig with its couplings may go to the rig itself.
                let is_own = |path: &PathBuf| is_same_file(path, &a.limits.rig);
                let own = a.output.as_ref().is_some_and(is_own);
                let files = Files::read(&a.files).also(Some(&a.limits.rig).filter(|_| !own));
                let files = match &a.output {
                    Some(output) => files.written(output, OutputKind::Updated),
                    None => files,
                };
                files.beside(a.report.as_ref(), FileKind::Page).forced(a.replacing.force)
            }
            Self::Evaluate(a) => Files::read(&a.files)
                .also(&a.fit)
                .also([&a.limits.rig])
                .beside(a.report.as_ref(), FileKind::Page)
                .forced(a.replacing.force),
            Self::Dials(a) => {
                let files = Files::read([&a.rig]).forced(a.replacing.force);
                match &a.output {
                    Some(output) => files.written(output, New(FileKind::Rig)),
                    None => files,
                }
            }
            Self::Pose(a) => {
                let files = Files::read([&a.rig]).also(&a.dials).also(&a.goals);
                let files = match &a.output {
                    Some(output) => files.written(output, dials_or_motion(output)),
                    None => files,
                };
                files.beside(a.report.as_ref(), FileKind::Page).forced(a.writing.force())
            }
            Self::Fit(a) => Files::read(&a.files)
                .also([&a.rig])
                .written(&a.output, dials_or_motion(&a.output))
                .beside(a.dials.as_ref(), FileKind::Table)
                .beside(a.report.as_ref(), FileKind::Page)
                .forced(a.writing.force()),
            Self::Estimate(a) => Files::read(&a.files)
                .also(&a.bind)
                .written(&a.output, rig(a.fresh))
                .beside(a.report.as_ref(), FileKind::Page)
                .forced(a.replacing.force),
            Self::Corpus(a) => {
                Files::read(&a.folders).written(&a.output, rig(a.fresh)).forced(a.replacing.force)
            }
            Self::Stats(a) => Files::read(&a.files)
                .written(&a.output, New(FileKind::Summary))
                .forced(a.replacing.force),
            Self::Merge(a) => {
                let is_summary =
                    a.output.extension().is_some_and(|e| e.eq_ignore_ascii_case("cst"));
                let kind = if is_summary { New(FileKind::Summary) } else { rig(a.fresh) };
                Files::read(&a.parts).written(&a.output, kind).forced(a.replacing.force)
            }
            Self::Demo(a) => {
                let mut files = Files::default().forced(a.replacing.force);
                for (name, kind) in [
                    ("figure.bvh", Motion),
                    ("figure.amc", Motion),
                    ("figure.trc", Motion),
                    ("walk.bvh", Motion),
                    ("run.bvh", Motion),
                    ("rig.json", New(FileKind::Rig)),
                    ("report.html", New(FileKind::Page)),
                ] {
                    let path = a.output.join(name).into();
                    files.outputs.push(Output { path, kind, main: true });
                }
                files
            }
        }
    }
}
