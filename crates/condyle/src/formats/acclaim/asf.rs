//! The ASF document: what the file says, section by section.
//!
//! Grammar (Acclaim Skeleton File Definition V1.10, M. Schafer, 1994–95): lines; a word that begins
//! with `:` at the start of a line opens a section; `#` at the start of a word opens a comment;
//! commas and parentheses around numbers are blanks.

use crate::formats::error::{ReadError, ReadErrorKind};
use crate::formats::text::{self, Number, Scanner, is_word};
use crate::math::EulerOrder;
use crate::skeleton::{Dof, MAX_JOINTS};

/// The most bones of a file. More than [`MAX_JOINTS`], since connector bones are no joints.
const MAX_BONES: usize = 4 * MAX_JOINTS;

/// An ASF: comments and sections in the order of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    /// Comments before the first section, without the `#`.
    pub header: Vec<String>,
    /// The sections.
    pub sections: Vec<Section>,
}

/// A section and the comments in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// Comments inside the section, without the `#`. Those inside a bone are with the bone.
    pub comments: Vec<String>,
    /// What it says.
    pub body: Body,
}

/// What a section says.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Body {
    /// `:version`
    Version(String),
    /// `:name`
    Name(String),
    /// `:units`: keys and the text after them.
    Units(Vec<(String, String)>),
    /// `:documentation`, line by line.
    Documentation(Vec<String>),
    /// `:root`
    Root(Root),
    /// `:bonedata`
    Bones(Vec<Bone>),
    /// `:hierarchy`
    Hierarchy(Vec<Branch>),
    /// Any other section, verbatim.
    Other {
        /// The word after the colon.
        name: String,
        /// What follows it on its line.
        rest: String,
        /// The lines below.
        lines: Vec<String>,
    },
}

/// The `:root` section.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Root {
    /// `order`: the root's columns in the motion.
    pub order: Option<Vec<Dof>>,
    /// `axis`: in which order the turns of `orientation` act, first letter first.
    pub axis: Option<EulerOrder>,
    /// `position`, in the file's unit.
    pub position: Option<[f64; 3]>,
    /// `orientation`: about x, y and z, in the file's unit of angle.
    pub orientation: Option<[f64; 3]>,
    /// Other fields: key and the text after it.
    pub fields: Vec<(String, String)>,
}

/// One bone of `:bonedata`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bone {
    /// Comments inside it, without the `#`.
    pub comments: Vec<String>,
    /// `id`, as written.
    pub id: Option<String>,
    /// `name`
    pub name: String,
    /// `direction`, in world space at rest.
    pub direction: Option<[f64; 3]>,
    /// `length`, in the file's unit.
    pub length: Option<f64>,
    /// `axis`: turns about x, y and z in the file's unit of angle, and in which order they act,
    /// first letter first.
    pub axis: Option<([f64; 3], EulerOrder)>,
    /// `dof`: the bone's columns in the motion.
    pub dofs: Option<Vec<Dof>>,
    /// `limits`, in the order of `dof`, in the file's units. Either end may be infinite.
    pub limits: Vec<(f64, f64)>,
    /// Bone shape and other fields: key and the text after it.
    pub fields: Vec<(String, String)>,
}

/// A line of `:hierarchy`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// The bone above.
    pub parent: String,
    /// The bones below it.
    pub children: Vec<String>,
}

/// Byte offsets of what lowering may complain about.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    /// Of each bone's `begin`.
    pub(super) bones: Vec<usize>,
    /// Of each name in the hierarchy, in the order of the file.
    pub(super) hierarchy: Vec<usize>,
    /// Of each entry of `:units`.
    pub(super) units: Vec<usize>,
    /// Of the `:root` section.
    pub(super) root: usize,
    /// Names of unknown sections and fields, each once, with where they are first.
    pub(super) unknown: Vec<(String, usize)>,
}

impl Document {
    /// The root section.
    #[must_use]
    pub fn root(&self) -> Option<&Root> {
        self.sections.iter().find_map(|s| if let Body::Root(r) = &s.body { Some(r) } else { None })
    }

    /// The bones, in the order of the file.
    #[must_use]
    pub fn bones(&self) -> &[Bone] {
        let bones = |s: &'_ Section| matches!(s.body, Body::Bones(_));
        match self.sections.iter().find(|s| bones(s)).map(|s| &s.body) {
            Some(Body::Bones(bones)) => bones,
            _ => &[],
        }
    }

    /// The lines of the hierarchy; `None` if there is no such section.
    #[must_use]
    pub fn hierarchy(&self) -> Option<&[Branch]> {
        self.sections.iter().find_map(|s| {
            if let Body::Hierarchy(lines) = &s.body { Some(lines.as_slice()) } else { None }
        })
    }

    /// The entries of the units section; `None` if there is no such section.
    #[must_use]
    pub fn units(&self) -> Option<&[(String, String)]> {
        self.sections.iter().find_map(|s| {
            if let Body::Units(entries) = &s.body { Some(entries.as_slice()) } else { None }
        })
    }

    /// The section of a kind, for changing it.
    pub(super) fn body_mut(&mut self, wanted: impl Fn(&Body) -> bool) -> Option<&mut Body> {
        self.sections.iter_mut().map(|s| &mut s.body).find(|b| wanted(b))
    }
}

/// Parses the text of an ASF.
pub(super) fn parse(bytes: &[u8]) -> Result<(Document, Places), ReadError> {
    let mut parser = Parser {
        s: Scanner::new(bytes),
        document: Document::default(),
        places: Places::default(),
        firsts: Vec::new(),
        in_hierarchy: false,
    };
    parser.document()?;
    Ok((parser.document, parser.places))
}

struct Parser<'a> {
    s: Scanner<'a>,
    document: Document,
    places: Places,
    /// Sections that may appear once, and where they did.
    firsts: Vec<(&'static str, usize)>,
    /// Between `begin` and `end` of the hierarchy.
    in_hierarchy: bool,
}

impl Parser<'_> {
    fn document(&mut self) -> Result<(), ReadError> {
        loop {
            self.s.skip_space();
            match self.s.peek() {
                None => break,
                Some(b'#') => {
                    let comment = self.comment();
                    match self.document.sections.last_mut() {
                        Some(section) => section.comments.push(comment),
                        None => self.document.header.push(comment),
                    }
                }
                Some(b':') => self.section()?,
                Some(_) => self.line()?,
            }
        }
        if self.in_hierarchy {
            let within = "the hierarchy: its \"end\" is missing".to_owned();
            return Err(self.s.error(ReadErrorKind::Truncated { within }));
        }
        Ok(())
    }

    /// A comment up to the end of the line, without the `#`.
    fn comment(&mut self) -> String {
        text::decode(&self.s.rest_of_line()[1..]).into_owned()
    }

    /// Whether the line has nothing left but a comment.
    fn ended(&mut self) -> bool {
        self.s.at_line_end() || self.s.peek() == Some(b'#')
    }

    /// A line's end: nothing, or a comment, which is returned.
    fn end_line(&mut self) -> Result<Option<String>, ReadError> {
        if !self.ended() {
            return Err(self.s.expected("the end of the line"));
        }
        Ok((self.s.peek() == Some(b'#')).then(|| self.comment()))
    }

    /// The text up to the end of the line, without blanks around it, and its comment.
    fn text(&mut self) -> (String, Option<String>) {
        self.s.skip_blanks();
        let start = self.s.at;
        let mut end = start;
        while !self.ended() {
            self.s.word();
            end = self.s.at;
        }
        let comment = (self.s.peek() == Some(b'#')).then(|| self.comment());
        (text::decode(&self.s.bytes[start..end]).into_owned(), comment)
    }

    fn word(&mut self, what: &str) -> Result<String, ReadError> {
        if self.ended() {
            return Err(self.s.expected(what));
        }
        Ok(text::decode(self.s.word()).into_owned())
    }

    /// Skips blanks and what counts as such among numbers.
    fn skip_separators(&mut self) {
        loop {
            self.s.skip_blanks();
            if !matches!(self.s.peek(), Some(b',' | b'(' | b')')) {
                break;
            }
            self.s.at += 1;
        }
    }

    fn number(&mut self, what: &str) -> Result<f64, ReadError> {
        self.skip_separators();
        if self.ended() {
            return Err(self.s.expected(what));
        }
        self.s.number_on_line(what, b",()#")
    }

    fn numbers(&mut self, what: &str) -> Result<[f64; 3], ReadError> {
        let numbers = [self.number(what)?, self.number(what)?, self.number(what)?];
        self.skip_separators();
        Ok(numbers)
    }

    fn order(&mut self) -> Result<EulerOrder, ReadError> {
        let before = self.s.clone();
        let word = self.word("an axis order such as XYZ")?;
        let order = word.parse::<EulerOrder>().ok().filter(|order| !order.is_proper());
        order.ok_or_else(|| before.expected("an axis order: the letters X, Y and Z, each once"))
    }

    /// Words such as `rx ry rz`. The length of the bone may change, too, unless it is the root.
    fn dofs(&mut self, is_root: bool) -> Result<Vec<Dof>, ReadError> {
        let mut dofs = Vec::new();
        self.skip_separators();
        while !self.ended() {
            let before = self.s.clone();
            let word = self.s.word();
            let dof = DOFS.iter().find(|(name, _)| is_word(word, name)).map(|(_, dof)| *dof);
            let Some(dof) = dof.filter(|d| !(is_root && *d == Dof::Length)) else {
                let l = if is_root { "" } else { " or l" };
                return Err(before.expected(format!("tx, ty, tz, rx, ry, rz{l}")));
            };
            if dofs.contains(&dof) {
                let what = format!("{:?} in this list", text::shortened(word));
                return Err(before.error(ReadErrorKind::Duplicate { what, first: None }));
            }
            dofs.push(dof);
            self.skip_separators();
        }
        Ok(dofs)
    }

    fn section(&mut self) -> Result<(), ReadError> {
        let at = self.s.at;
        if self.in_hierarchy {
            return Err(self.s.expected("\"end\" of the hierarchy"));
        }
        let word = &self.s.word()[1..];
        let mut comments = Vec::new();
        let body = if is_word(word, "version") {
            let (text, comment) = self.text();
            comments.extend(comment);
            Body::Version(text)
        } else if is_word(word, "name") {
            let (text, comment) = self.text();
            comments.extend(comment);
            Body::Name(text)
        } else if is_word(word, "documentation") {
            let first = text::decode(self.s.rest_of_line()).into_owned();
            let mut lines = self.verbatim();
            if !first.is_empty() {
                lines.insert(0, first);
            }
            Body::Documentation(lines)
        } else if is_word(word, "units") {
            self.once(":units", at)?;
            comments.extend(self.end_line()?);
            Body::Units(Vec::new())
        } else if is_word(word, "root") {
            self.once(":root", at)?;
            comments.extend(self.end_line()?);
            self.places.root = at;
            Body::Root(Root::default())
        } else if is_word(word, "bonedata") {
            self.once(":bonedata", at)?;
            comments.extend(self.end_line()?);
            Body::Bones(Vec::new())
        } else if is_word(word, "hierarchy") {
            self.once(":hierarchy", at)?;
            comments.extend(self.end_line()?);
            Body::Hierarchy(Vec::new())
        } else {
            let name = text::decode(word).into_owned();
            self.unknown(&format!(":{name}"), at);
            let rest = text::decode(self.s.rest_of_line()).into_owned();
            Body::Other { name, rest, lines: self.verbatim() }
        };
        self.document.sections.push(Section { comments, body });
        Ok(())
    }

    fn once(&mut self, name: &'static str, at: usize) -> Result<(), ReadError> {
        if let Some((_, first)) = self.firsts.iter().find(|(n, _)| *n == name) {
            let first = Some(text::position(self.s.bytes, *first));
            let what = format!("section {name}");
            let kind = ReadErrorKind::Duplicate { what, first };
            return Err(text::error_at(self.s.bytes, at, kind));
        }
        self.firsts.push((name, at));
        Ok(())
    }

    fn unknown(&mut self, name: &str, at: usize) {
        if !self.places.unknown.iter().any(|(n, _)| n == name) && self.places.unknown.len() < 100 {
            self.places.unknown.push((name.to_owned(), at));
        }
    }

    /// The lines up to the next section, as they are but for blanks at their end.
    fn verbatim(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        self.s.next_line();
        while !self.s.is_done() {
            let start = self.s.at;
            self.s.skip_blanks();
            if self.s.peek() == Some(b':') {
                self.s.at = start;
                break;
            }
            let indent = self.s.at;
            let n = self.s.rest_of_line().len();
            let line = if n == 0 { &[] } else { &self.s.bytes[start..indent + n] };
            lines.push(text::decode(line).into_owned());
            self.s.next_line();
        }
        while lines.last().is_some_and(String::is_empty) {
            lines.pop();
        }
        lines
    }

    /// A line inside a section.
    fn line(&mut self) -> Result<(), ReadError> {
        let Some(mut section) = self.document.sections.pop() else {
            return Err(self.s.expected("a section such as \":version\""));
        };
        let comment = match &mut section.body {
            Body::Units(entries) => {
                self.places.units.push(self.s.at);
                let key = self.word("a unit")?;
                let (value, comment) = self.text();
                entries.push((key, value));
                comment
            }
            Body::Root(root) => self.root_field(root)?,
            Body::Bones(bones) => {
                let at = self.s.at;
                if !is_word(self.s.clone().word(), "begin") {
                    return Err(self.s.expected("\"begin\" of a bone or the next section"));
                }
                if bones.len() >= MAX_BONES {
                    let limit = MAX_BONES as u64;
                    return Err(self.s.error(ReadErrorKind::TooMany { what: "bones", limit }));
                }
                self.places.bones.push(at);
                bones.push(self.bone(at)?);
                None
            }
            Body::Hierarchy(lines) => self.hierarchy_line(lines)?,
            _ => return Err(self.s.expected("a section such as \":root\"")),
        };
        section.comments.extend(comment);
        self.document.sections.push(section);
        Ok(())
    }

    fn root_field(&mut self, root: &mut Root) -> Result<Option<String>, ReadError> {
        let at = self.s.at;
        let word = self.s.word();
        if is_word(word, "order") {
            root.order = Some(self.dofs(true)?);
        } else if is_word(word, "axis") {
            root.axis = Some(self.order()?);
        } else if is_word(word, "position") {
            root.position = Some(self.numbers("three numbers")?);
        } else if is_word(word, "orientation") {
            root.orientation = Some(self.numbers("three angles")?);
        } else {
            let key = text::decode(word).into_owned();
            self.unknown(&key, at);
            let (value, comment) = self.text();
            root.fields.push((key, value));
            return Ok(comment);
        }
        self.end_line()
    }

    fn bone(&mut self, begin: usize) -> Result<Bone, ReadError> {
        let mut bone = Bone::default();
        self.s.word();
        bone.comments.extend(self.end_line()?);
        loop {
            self.s.skip_space();
            let at = self.s.at;
            match self.s.peek() {
                None => {
                    let within = "a bone: its \"end\" is missing".to_owned();
                    return Err(self.s.error(ReadErrorKind::Truncated { within }));
                }
                Some(b'#') => {
                    let comment = self.comment();
                    bone.comments.push(comment);
                    continue;
                }
                Some(b':') => return Err(self.s.expected("a field or \"end\" of the bone")),
                Some(_) => {}
            }
            let word = self.s.word();
            if is_word(word, "end") {
                bone.comments.extend(self.end_line()?);
                break;
            } else if is_word(word, "id") {
                let (id, comment) = self.text();
                bone.id = Some(id);
                bone.comments.extend(comment);
                continue;
            } else if is_word(word, "name") {
                bone.name = self.word("the bone's name")?;
            } else if is_word(word, "direction") {
                bone.direction = Some(self.numbers("three numbers")?);
            } else if is_word(word, "length") {
                bone.length = Some(self.number("the bone's length")?);
                self.skip_separators();
            } else if is_word(word, "axis") {
                let angles = self.numbers("three angles")?;
                let order = if self.ended() { EulerOrder::XYZ } else { self.order()? };
                bone.axis = Some((angles, order));
            } else if is_word(word, "dof") {
                bone.dofs = Some(self.dofs(false)?);
            } else if is_word(word, "limits") {
                self.limits(&mut bone)?;
                continue;
            } else if is_word(word, "begin") {
                self.s.at = at;
                return Err(self.s.expected("\"end\" of the bone"));
            } else {
                let key = text::decode(word).into_owned();
                if !SHAPE_FIELDS.iter().any(|f| is_word(word, f)) {
                    self.unknown(&key, at);
                }
                let (value, comment) = self.text();
                bone.fields.push((key, value));
                bone.comments.extend(comment);
                continue;
            }
            bone.comments.extend(self.end_line()?);
        }
        if bone.name.is_empty() {
            let kind = ReadErrorKind::Missing { what: "the name of this bone".to_owned() };
            return Err(text::error_at(self.s.bytes, begin, kind));
        }
        Ok(bone)
    }

    /// Pairs of numbers, on this line and those below that begin with a parenthesis or a number.
    fn limits(&mut self, bone: &mut Bone) -> Result<(), ReadError> {
        loop {
            self.skip_separators();
            while !self.ended() {
                let low = self.limit()?;
                self.skip_separators();
                let high = self.limit()?;
                bone.limits.push((low, high));
                self.skip_separators();
            }
            bone.comments.extend(self.end_line()?);
            self.s.skip_space();
            while self.s.peek() == Some(b'#') {
                let comment = self.comment();
                bone.comments.push(comment);
                self.s.skip_space();
            }
            let goes_on = self.s.peek() == Some(b'(') || text::number(self.s.rest()).is_some();
            if !goes_on {
                return Ok(());
            }
        }
    }

    /// A number that may be infinite.
    fn limit(&mut self) -> Result<f64, ReadError> {
        let rest = self.s.rest();
        if let Some(Number::NotFinite(n)) = text::number(rest)
            && self.s.ends_number(self.s.at + n, b",()")
        {
            let word = rest[..n].trim_ascii_start();
            let (negative, word) = match word.first() {
                Some(b'-') => (true, &word[1..]),
                Some(b'+') => (false, &word[1..]),
                _ => (false, word),
            };
            if is_word(word, "inf") || is_word(word, "infinity") {
                self.s.at += n;
                return Ok(if negative { f64::NEG_INFINITY } else { f64::INFINITY });
            }
        }
        self.number("the two numbers of a limit")
    }

    fn hierarchy_line(&mut self, lines: &mut Vec<Branch>) -> Result<Option<String>, ReadError> {
        let at = self.s.at;
        let parent = self.word("a bone")?;
        let alone = self.ended();
        if alone && parent.eq_ignore_ascii_case("begin") {
            if self.in_hierarchy {
                self.s.at = at;
                return Err(self.s.expected("\"end\" of the hierarchy"));
            }
            self.in_hierarchy = true;
            return self.end_line();
        }
        if alone && parent.eq_ignore_ascii_case("end") && self.in_hierarchy {
            self.in_hierarchy = false;
            return self.end_line();
        }
        self.places.hierarchy.push(at);
        let mut children = Vec::new();
        while !self.ended() {
            self.places.hierarchy.push(self.s.at);
            children.push(self.word("a bone")?);
        }
        lines.push(Branch { parent, children });
        self.end_line()
    }
}

/// Fields of the format's definition that say how a bone looks and weighs.
const SHAPE_FIELDS: [&str; 7] =
    ["bodymass", "cofmass", "bodyshape", "bodyspecs", "bodyinertia", "inertia", "torsion"];

/// The words of `dof` and `order`.
pub(super) const DOFS: [(&str, Dof); 7] = [
    (Dof::Tx.as_str(), Dof::Tx),
    (Dof::Ty.as_str(), Dof::Ty),
    (Dof::Tz.as_str(), Dof::Tz),
    (Dof::Rx.as_str(), Dof::Rx),
    (Dof::Ry.as_str(), Dof::Ry),
    (Dof::Rz.as_str(), Dof::Rz),
    (Dof::Length.as_str(), Dof::Length),
];

impl Document {
    /// The text of the file. Reading it gives the same document.
    pub(super) fn to_text(&self) -> String {
        let mut out = String::new();
        let o = &mut out;
        push_comments(o, "", &self.header);
        for section in &self.sections {
            match &section.body {
                Body::Version(text) => push_line(o, &[":version ", text]),
                Body::Name(text) => push_line(o, &[":name ", text]),
                Body::Units(_) => push_line(o, &[":units"]),
                // A first line that would open a section can only have come from this place.
                Body::Documentation(lines) => match lines.first() {
                    Some(line) if opens_section(line) => push_line(o, &[":documentation ", line]),
                    _ => push_line(o, &[":documentation"]),
                },
                Body::Root(_) => push_line(o, &[":root"]),
                Body::Bones(_) => push_line(o, &[":bonedata"]),
                Body::Hierarchy(_) => push_line(o, &[":hierarchy"]),
                Body::Other { name, rest, .. } if rest.is_empty() => push_line(o, &[":", name]),
                Body::Other { name, rest, .. } => push_line(o, &[":", name, " ", rest]),
            }
            push_comments(o, "", &section.comments);
            match &section.body {
                Body::Version(_) | Body::Name(_) => {}
                Body::Units(fields) => push_fields(o, "  ", fields),
                Body::Documentation(lines) | Body::Other { lines, .. } => {
                    lines
                        .iter()
                        .filter(|line| !opens_section(line))
                        .for_each(|line| push_line(o, &[line]));
                }
                Body::Root(root) => push_root(o, root),
                Body::Bones(bones) => bones.iter().for_each(|bone| push_bone(o, bone)),
                Body::Hierarchy(lines) => {
                    push_line(o, &["  begin"]);
                    for Branch { parent, children } in lines {
                        o.push_str("    ");
                        o.push_str(parent);
                        for child in children {
                            o.push(' ');
                            o.push_str(child);
                        }
                        o.push('\n');
                    }
                    push_line(o, &["  end"]);
                }
            }
        }
        out
    }
}

fn opens_section(line: &str) -> bool {
    line.trim_start_matches(|c: char| u8::try_from(c).is_ok_and(text::is_space)).starts_with(':')
}

fn push_line(out: &mut String, parts: &[&str]) {
    parts.iter().for_each(|part| out.push_str(part));
    out.push('\n');
}

fn push_comments(out: &mut String, indent: &str, comments: &[String]) {
    comments.iter().for_each(|comment| push_line(out, &[indent, "#", comment]));
}

fn push_fields(out: &mut String, indent: &str, fields: &[(String, String)]) {
    for (key, value) in fields {
        let blank = if value.is_empty() { "" } else { " " };
        push_line(out, &[indent, key, blank, value]);
    }
}

fn push_numbers(out: &mut String, numbers: &[f64]) {
    for number in numbers {
        out.push(' ');
        text::push_number(out, *number);
    }
}

fn push_root(out: &mut String, root: &Root) {
    if let Some(order) = &root.order {
        out.push_str("  order");
        for dof in order {
            out.push(' ');
            out.push_str(&dof.as_str().to_ascii_uppercase());
        }
        out.push('\n');
    }
    if let Some(axis) = root.axis {
        push_line(out, &["  axis ", axis.as_str()]);
    }
    for (key, numbers) in [("  position", root.position), ("  orientation", root.orientation)] {
        if let Some(numbers) = numbers {
            out.push_str(key);
            push_numbers(out, &numbers);
            out.push('\n');
        }
    }
    push_fields(out, "  ", &root.fields);
}

fn push_bone(out: &mut String, bone: &Bone) {
    push_line(out, &["  begin"]);
    push_comments(out, "    ", &bone.comments);
    if let Some(id) = &bone.id {
        push_line(out, &["    id ", id]);
    }
    push_line(out, &["    name ", &bone.name]);
    if let Some(direction) = bone.direction {
        out.push_str("    direction");
        push_numbers(out, &direction);
        out.push('\n');
    }
    if let Some(length) = bone.length {
        out.push_str("    length");
        push_numbers(out, &[length]);
        out.push('\n');
    }
    if let Some((angles, order)) = bone.axis {
        out.push_str("    axis");
        push_numbers(out, &angles);
        push_line(out, &[" ", order.as_str()]);
    }
    if let Some(dofs) = &bone.dofs {
        out.push_str("    dof");
        for dof in dofs {
            out.push(' ');
            out.push_str(dof.as_str());
        }
        out.push('\n');
    }
    push_fields(out, "    ", &bone.fields);
    // Last: a field that begins with a parenthesis would read as one more limit.
    for (i, (low, high)) in bone.limits.iter().enumerate() {
        out.push_str(if i == 0 { "    limits (" } else { "           (" });
        push_limit(out, *low);
        out.push(' ');
        push_limit(out, *high);
        out.push_str(")\n");
    }
    push_line(out, &["  end"]);
}

fn push_limit(out: &mut String, value: f64) {
    if value.is_finite() {
        text::push_number(out, value);
    } else {
        out.push_str(if value > 0.0 { "inf" } else { "-inf" });
    }
}
