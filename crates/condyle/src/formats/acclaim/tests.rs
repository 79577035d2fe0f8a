//! Rows C1 and C2 of the requirements, on small files. Rotations are judged by matrices multiplied
//! out here from eq 1–5 of the source, with the standard library's trigonometry.
#![allow(clippy::disallowed_methods, reason = "the judge shares no code with what it judges")]

use std::f64::consts::{FRAC_PI_2, PI};
use std::fmt::Write as _;

use glam::{DMat3, DVec3};

use crate::formats::{
    Format, LengthUnit, Mode, MotionFile, Origin, OutputUnit, Position, Read, ReadError,
    ReadErrorKind, ReadOptions, WarningKind, WriteOptions, Written, read, write,
};
use crate::math::{Angle, Rotation, Rotations, arbitrary};
use crate::motion::{Clip, FrameIndex, FrameRate, KeyTimes, Sequence, Track, WorldTracks};
use crate::skeleton::{Dof, EndSite, Joint, JointIndex, Skeleton};

/// The turn about axis 0, 1 or 2 as a matrix.
fn turn(axis: usize, degrees: f64) -> DMat3 {
    let (s, c) = degrees.to_radians().sin_cos();
    let (x, y, z) = (DVec3::X, DVec3::Y, DVec3::Z);
    match axis {
        0 => DMat3::from_cols(x, DVec3::new(0.0, c, s), DVec3::new(0.0, -s, c)),
        1 => DMat3::from_cols(DVec3::new(c, 0.0, -s), y, DVec3::new(s, 0.0, c)),
        _ => DMat3::from_cols(DVec3::new(c, s, 0.0), DVec3::new(-s, c, 0.0), z),
    }
}

/// `XYZ`-like letters, the first acting first, with the angles about x, y, z.
fn turns(letters: &str, angles: [f64; 3]) -> DMat3 {
    letters.bytes().fold(DMat3::IDENTITY, |before, letter| {
        let axis = usize::from(letter - b'X');
        turn(axis, angles[axis]) * before
    })
}

#[track_caller]
fn close(a: DVec3, b: DVec3) {
    assert!((a - b).length() < 1e-12, "{a} is not {b}");
}

#[track_caller]
fn close_turn(a: Rotation, b: DMat3) {
    let error = a.to_matrix() - b;
    let worst = error.to_cols_array().into_iter().fold(0.0, |w: f64, e| w.max(e.abs()));
    assert!(worst < 1e-12, "{:?} is not {b:?}", a.to_matrix());
}

/// A skeleton file: the root section, bones as (name, fields), and the hierarchy.
fn asf(root: &str, bones: &[(&str, &str)], hierarchy: &[&str]) -> String {
    let mut text = format!(
        ":version 1.10\n:name test\n:units\n mass 1\n length 2.54\n angle deg\n:root\n{root}\n:bonedata\n"
    );
    for (name, fields) in bones {
        write!(text, "begin\nname {name}\n{fields}\nend\n").unwrap();
    }
    text += ":hierarchy\nbegin\n";
    hierarchy.iter().for_each(|line| writeln!(text, "{line}").unwrap());
    text + "end\n"
}

const ROOT: &str = "order TX TY TZ RX RY RZ\naxis XYZ\nposition 0 0 0\norientation 0 0 0";

/// A bone 10 cm up without turns, with these further fields.
fn up(fields: &str) -> String {
    format!("direction 0 1 0\nlength 10\naxis 0 0 0 XYZ\n{fields}")
}

/// Root, `a` with these fields, and `b` on top of it.
fn two_bones(fields: &str) -> String {
    asf(ROOT, &[("a", fields), ("b", &up("dof rx"))], &["root a", "a b"])
}

fn try_asf(text: &[u8]) -> Result<Read, ReadError> {
    read(text, None, &ReadOptions { format: Some(Format::Asf), ..ReadOptions::default() })
}

#[track_caller]
fn read_asf(text: &str) -> Read {
    try_asf(text.as_bytes()).unwrap_or_else(|e| panic!("{e}"))
}

fn try_amc(asf: &Read, amc: &[u8], mode: Mode) -> Result<Read, ReadError> {
    let options = ReadOptions { format: Some(Format::Amc), mode, ..ReadOptions::default() };
    read(amc, Some(&asf.file), &options)
}

#[track_caller]
fn read_both(asf: &str, amc: &str) -> Read {
    try_amc(&read_asf(asf), amc.as_bytes(), Mode::Repair).unwrap_or_else(|e| panic!("{e}"))
}

fn joint(file: &MotionFile, name: &str) -> JointIndex {
    file.skeleton.find(name).unwrap_or_else(|| panic!("no joint {name}"))
}

fn clip(file: &MotionFile) -> &Clip {
    file.clip.as_ref().unwrap()
}

fn world(file: &MotionFile) -> WorldTracks {
    WorldTracks::of(&file.skeleton, clip(file))
}

fn kinds(read: &Read) -> Vec<WarningKind> {
    read.warnings.iter().map(|w| w.kind.clone()).collect()
}

#[track_caller]
fn check_error(result: Result<Read, ReadError>, place: &str, message: &str) {
    let error = result.expect_err("this must not read");
    let text = error.to_string();
    let first = text.lines().next().unwrap();
    assert_eq!(
        first,
        if place.is_empty() { message.to_owned() } else { format!("{place}: {message}") }
    );
}

// ---- meaning -----------------------------------------------------------------------------------

#[test]
fn c1_the_first_letter_of_axis_acts_first_in_all_six_orders() {
    let angles = [20.0, -35.0, 50.0];
    for letters in ["XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"] {
        let [x, y, z] = angles;
        // The letters give the order only; the numbers are about x, y, z.
        let fields = format!("direction 0 1 0\nlength 10\naxis {x} {y} {z} {letters}\ndof rx");
        let read = read_asf(&two_bones(&fields));
        let c = turns(letters, angles);
        let s = &read.file.skeleton;
        close_turn(s[joint(&read.file, "a")].rest, c);
        // `b` begins at the tip of `a`, 10 cm up in the world, in a's local space.
        close(s[joint(&read.file, "b")].offset_m, c.transpose() * (0.1 * DVec3::Y));
        close_turn(s[joint(&read.file, "b")].rest, c.transpose());
        let tip = &s[joint(&read.file, "b")].end_sites[0];
        close(tip.offset_m, 0.1 * DVec3::Y);
    }
}

#[test]
fn c1_motion_follows_equations_1_to_5() {
    // Two turned bones under a turned root, dofs in another order than the axes.
    let root = "axis ZXY\norientation 5 -15 25\nposition 1 2 3\norder RZ TY RX TX RY TZ";
    let a =
        "direction 0.6 0.8 0\nlength 20\naxis 10 20 30 XYZ\ndof rz rx ry\nlimits (0 1) (2 3) (4 5)";
    let b = "direction 0 0 -1\nlength 30\naxis -40 50 60 ZYX\ndof ry rx";
    let text = asf(root, &[("b", b), ("a", a)], &["a b", "root a"]);
    let amc =
        "1\nroot 11 2 12 3 13 4\na 31 32 33\nb 41 42\n2\nb -400 1e1\nroot 0 0 0 0 0 0\na 0 0 0\n";
    let read = read_both(&text, amc);
    assert!(kinds(&read).is_empty());
    let file = &read.file;

    let c_root = turns("ZXY", [5.0, -15.0, 25.0]);
    let c_a = turns("XYZ", [10.0, 20.0, 30.0]);
    let c_b = turns("ZYX", [-40.0, 50.0, 60.0]);
    for (f, root_turn, a_turn, b_turn, shift) in [
        // Columns by the dof list: root rz=11 ty=2 rx=12 tx=3 ry=13 tz=4.
        (
            0,
            turn(1, 13.0) * turn(0, 12.0) * turn(2, 11.0),
            turn(1, 33.0) * turn(0, 32.0) * turn(2, 31.0),
            turn(0, 42.0) * turn(1, 41.0),
            DVec3::new(3.0, 2.0, 4.0),
        ),
        (1, DMat3::IDENTITY, DMat3::IDENTITY, turn(0, 10.0) * turn(1, -400.0), DVec3::ZERO),
    ] {
        // Eq 1.a with R_asf = C_parent^-1 C, and 1.b.
        let w_root = c_root * root_turn;
        let w_a = w_root * (c_root.transpose() * c_a) * a_turn;
        let w_b = w_a * (c_a.transpose() * c_b) * b_turn;
        // Eq 2 and 5: a bone's own vector turns with the bone.
        let p_root = (DVec3::new(1.0, 2.0, 3.0) + shift) * 0.01;
        let p_b = p_root + w_a * (c_a.transpose() * (0.2 * DVec3::new(0.6, 0.8, 0.0)));
        let tip = p_b + w_b * (c_b.transpose() * (0.3 * DVec3::NEG_Z));

        let world = world(file);
        for (name, rotation, place) in
            [("root", w_root, p_root), ("a", w_a, p_root), ("b", w_b, p_b)]
        {
            close_turn(world.rotation(joint(file, name), f), rotation);
            close(world.position_m(joint(file, name), f), place);
        }
        let b = joint(file, "b");
        let end = file.skeleton[b].end_sites[0].offset_m;
        close(world.position_m(b, f) + world.rotation(b, f) * end, tip);
    }
    // The dof order is that of the motion, whatever the axis says, and this is worth a notice.
    let differs = |bone: &str| WarningKind::OrderDiffers { bone: bone.to_owned() };
    let warnings = kinds(&read_asf(&text));
    assert_eq!(warnings, [differs("a")]);
    let root = read_asf(&asf("order RZ TX RY\naxis XYZ", &[], &[]));
    assert_eq!(kinds(&root), [differs("root")]);
    assert_eq!(clip(file).channels().unwrap().joints()[0].sequence, Sequence::FirstActsFirst);
}

#[test]
fn c1_bone_shifts_are_along_its_own_axes_and_length_stretches_to_the_children() {
    let a = "direction 0 1 0\nlength 10\naxis 0 0 90 XYZ\ndof ty l rx";
    let b = "direction 1 0 0\nlength 5\naxis 0 90 0 XYZ\ndof tx tz";
    let text = asf(ROOT, &[("a", a), ("b", b)], &["root a", "a b"]);
    let read = read_both(&text, "1\nroot 0 0 0 0 0 0\na 3 4 90\nb 5 6\n");
    let (file, world) = (&read.file, world(&read.file));
    let (c_a, c_b) = (turn(2, 90.0), turn(1, 90.0));
    // a: 3 cm along its y, which is the world's −x.
    close(world.position_m(joint(file, "a"), 0), DVec3::new(-0.03, 0.0, 0.0));
    // b: at the tip of a, 10 + 4 cm along its direction, turned with a; then along b's x and z.
    let w_a = c_a * turn(0, 90.0);
    let w_b = w_a * c_a.transpose() * c_b;
    let along = w_a * (c_a.transpose() * DVec3::Y);
    let place = DVec3::new(-0.03, 0.0, 0.0) + 0.14 * along + w_b * DVec3::new(0.05, 0.0, 0.06);
    close(world.position_m(joint(file, "b"), 0), place);
}

#[test]
fn c1_radians_and_length_units() {
    let degrees =
        two_bones("direction 0 1 0\nlength 10\naxis 90 0 180 XYZ\ndof rx\nlimits (-90 180)");
    let radians = degrees.replace("angle deg", "angle rad").replace(
        "axis 90 0 180 XYZ\ndof rx\nlimits (-90 180)",
        &format!("axis {FRAC_PI_2} 0 {PI} XYZ\ndof rx\nlimits ({} {PI})", -FRAC_PI_2),
    );
    let (d, r) = (read_asf(&degrees), read_asf(&radians));
    let a = joint(&d.file, "a");
    assert!(d.file.skeleton[a].rest.distance(r.file.skeleton[a].rest).radians() < 1e-15);
    let limit = |read: &Read| read.file.skeleton[a].declared.dofs.as_ref().unwrap()[0].limit;
    assert_eq!(limit(&d), limit(&r));
    assert_eq!(limit(&d), Some((-FRAC_PI_2, PI)));

    // The motion's own unit is used for the motion, with a word about it.
    let frame = format!("1\nroot 0 0 0 0 0 0\na {FRAC_PI_2}\nb 0\n");
    let plain = read_both(&radians, &frame);
    assert!(kinds(&plain).is_empty());
    close_turn(
        clip(&plain.file).rotation(a, FrameIndex(0)),
        turns("XYZ", [90.0, 0.0, 180.0]) * turn(0, 90.0),
    );
    let mixed = read_both(&degrees, &format!(":RADIANS\n{frame}"));
    assert_eq!(kinds(&mixed), [WarningKind::AngleUnits]);
    let turned = clip(&mixed.file).rotation(a, FrameIndex(0));
    assert!(turned.distance(clip(&plain.file).rotation(a, FrameIndex(0))).radians() < 1e-15);

    // length 2.54: an inch is 2.54 units, so they are centimetres.
    assert_eq!(d.file.units.length.name(), Some("cm"));
    assert!(d.file.units.is_declared());
    let given = ReadOptions { source_unit: Some(LengthUnit::M), ..ReadOptions::default() };
    let metres = read(degrees.as_bytes(), None, &given).unwrap().file;
    assert_eq!(metres.units, d.file.units, "what the file declares counts more");
    let none = degrees.replace(" length 2.54\n", "");
    let metres = read(none.as_bytes(), None, &given).unwrap().file;
    assert_eq!(metres.units.source, crate::formats::UnitSource::Given);
    assert_eq!(metres.skeleton[joint(&metres, "b")].offset_m.length(), 10.0);
    let none = read_asf(&none);
    assert_eq!((none.file.units.length, none.file.units.is_declared()), (LengthUnit::INCH, false));
    assert_eq!(none.warnings.len(), 1);
    assert!(none.warnings[0].is_repair());
}

#[test]
fn c1_a_position_is_added_to_the_roots_shifts() {
    let root = "order TX TY TZ RX RY RZ\naxis XYZ\nposition 1 2 3\norientation 0 90 0";
    let read = read_both(&asf(root, &[], &[]), "1\nroot 10 20 30 90 0 0\n");
    let j = joint(&read.file, "root");
    close(read.file.skeleton[j].offset_m, DVec3::new(0.01, 0.02, 0.03));
    close(world(&read.file).position_m(j, 0), DVec3::new(0.11, 0.22, 0.33));
    close_turn(world(&read.file).rotation(j, 0), turn(1, 90.0) * turn(0, 90.0));
}

#[test]
fn c1_limits_in_every_layout() {
    for limits in [
        "limits (-1 2) (-inf 4) (5 inf)",
        "limits (-1 2)\n       (-inf 4)\n\t(5 inf)",
        "limits (-1.0 2.0)\n(-inf,4)\n# a word\n(5 inf)",
        "limits ( -1 2 )\n\n( -inf 4 )( 5 INF )",
        "limits -1 2 -inf 4\n 5 inf",
        "limits\n (-1 2)(-inf 4) # two\n(5 Infinity)",
    ] {
        let read = read_asf(&two_bones(&up(&format!("dof rx ty l\n{limits}\nbodymass 3"))));
        assert!(kinds(&read).is_empty(), "{limits}: {:?}", read.warnings);
        let a = &read.file.skeleton[joint(&read.file, "a")].declared;
        let dofs = a.dofs.as_ref().unwrap();
        let found: Vec<_> = dofs.iter().map(|d| (d.dof, d.limit.unwrap())).collect();
        let rad = |d: f64| d.to_radians();
        let unit = 0.0254 / 2.54;
        let expected = [
            (Dof::Rx, (rad(-1.0), rad(2.0))),
            (Dof::Ty, (f64::NEG_INFINITY, 4.0 * unit)),
            (Dof::Length, (5.0 * unit, f64::INFINITY)),
        ];
        assert_eq!(found, expected, "{limits}");
        assert_eq!(a.fields, [("bodymass".to_owned(), "3".to_owned())]);
    }
    let short = read_asf(&two_bones(&up("dof rx ry rz\nlimits (1 2)")));
    let kind = WarningKind::LimitCount { bone: "a".to_owned(), found: 1, expected: 3 };
    assert_eq!(kinds(&short), [kind]);
    assert_eq!(short.warnings[0].at, Some(Position::Text { line: 13, column: 1 }));
}

#[test]
fn c1_the_root_declares_its_order_and_bones_their_fields() {
    let root = "order TZ RX\naxis XYZ\nposition 0 0 0\norientation 0 0 0\nshoe size 9";
    let text =
        asf(root, &[("a", &up("id 7\nbodymass 1.5\ncofmass 0 1 2\nodd one, two"))], &["root a"]);
    let read = read_asf(&text);
    let s = &read.file.skeleton;
    let root = &s[joint(&read.file, "root")].declared;
    let order: Vec<_> = root.dofs.as_ref().unwrap().iter().map(|d| (d.dof, d.limit)).collect();
    assert_eq!(order, [(Dof::Tz, None), (Dof::Rx, None)]);
    assert_eq!(root.fields, [("shoe".to_owned(), "size 9".to_owned())]);
    let fields = &s[joint(&read.file, "a")].declared.fields;
    let field = |k: &str, v: &str| (k.to_owned(), v.to_owned());
    assert_eq!(
        fields[..],
        [field("bodymass", "1.5"), field("cofmass", "0 1 2"), field("odd", "one, two")]
    );
    // What we do not know is worth a notice, which strict reading accepts.
    assert_eq!(read.warnings.iter().filter(|w| w.is_repair()).count(), 0);
    let unknown = |name: &str| WarningKind::UnknownField { name: name.to_owned() };
    assert_eq!(kinds(&read), [unknown("shoe"), unknown("odd")]);
}

#[test]
fn c1_joints_come_depth_first_whatever_the_order_of_lines() {
    let bones = ["d", "c", "b", "a", "e"].map(|n| (n, up("")));
    let bones: Vec<_> = bones.iter().map(|(n, f)| (*n, f.as_str())).collect();
    let read = read_asf(&asf(ROOT, &bones, &["b c", "a d", "root b a", "a e", "d"]));
    let names: Vec<_> = read.file.skeleton.joints().iter().map(|j| j.name.as_str()).collect();
    assert_eq!(names, ["root", "b", "c", "a", "d", "e"]);
}

#[test]
fn c1_line_ends_tabs_comments_exponents_and_latin_1() {
    let text = "# head\r\n:version 1.10 # v\n:name M\u{fc}ller\r:units\r\n\tlength\t2.54\n  angle deg\r\n\
        :documentation\r\n  # kept : as it is\r\n\r\n  twice\r\n:root\n order TX # x\n axis xyz\n\
        position 0 0 0\n orientation 0 0 7.62852e-016\r\n:bonedata\r\n begin # one\n  id 1\n \
        name f\u{fc}\u{df}e\n direction 1.5367e-011 -4.21617E-011 +1\t\n length 1.\n\
        axis -90 7.62852e-016 .20e2  XYZ\n dof\n end\n:skin a.skin\n x  y\n#no comment\n\n:hierarchy\n\
        # inside\n begin\n  root f\u{fc}\u{df}e # all\n end\n# tail\n";
    let utf8 = read_asf(text);
    let latin: Vec<u8> = text.chars().map(|c| u8::try_from(c).unwrap()).collect();
    let latin = try_asf(&latin).unwrap();
    assert_eq!(kinds(&utf8), [WarningKind::UnknownField { name: ":skin".to_owned() }]);
    for read in [&utf8, &latin] {
        let foot = joint(&read.file, "f\u{fc}\u{df}e");
        close_turn(read.file.skeleton[foot].rest, turns("XYZ", [-90.0, 0.0, 20.0]));
        assert_eq!(read.file.skeleton[foot].declared.dofs, Some(vec![]));
        let Origin::Acclaim(origin) = &read.file.origin else { panic!("{:?}", read.file.origin) };
        assert_eq!(origin.asf.header, [" head"]);
        check_document(read);
    }
    // An AMC in either encoding names the bones of an ASF in the other.
    let two = |amc: &[u8]| try_amc(&utf8, amc, Mode::Repair).unwrap();
    let latin: &[u8] =
        b"#!OML X:\\f\xFCr\r\n:DEGREES\r\n1\nroot 1\r\nf\xFC\xDFe\r\n2\nroot 2\r\nf\xFC\xDFe\r\n";
    let read = two(latin);
    assert!(kinds(&read).is_empty());
    let Origin::Acclaim(origin) = &read.file.origin else { panic!("{:?}", read.file.origin) };
    let amc = origin.amc.as_ref().unwrap();
    assert_eq!(amc.header, ["#!OML X:\\f\u{fc}r", ":DEGREES"]);
    assert_eq!(amc.bones, ["root", "f\u{fc}\u{df}e"]);
    check_document(&read);
}

/// Writing and reading again gives the same documents and the same numbers.
#[track_caller]
fn check_document(first: &Read) {
    let format = first.file.format.unwrap();
    let written = write(&first.file, format, &WriteOptions::default()).unwrap();
    assert!(written.warnings.is_empty(), "{:?}", written.warnings);
    let again = reread(&written);
    let (Origin::Acclaim(a), Origin::Acclaim(b)) = (&first.file.origin, &again.file.origin) else {
        panic!("not Acclaim");
    };
    assert_eq!(a, b);
    if format == Format::Amc {
        let columns = |r: &Read| clip(&r.file).channels().unwrap().columns().clone();
        assert_eq!(columns(first), columns(&again));
    }
}

/// Reads what was written: the AMC with its ASF, or the ASF.
#[track_caller]
fn reread(written: &Written) -> Read {
    let text = |f: Format| {
        let part = written.parts.iter().find(|(format, _)| *format == f);
        part.map(|(_, bytes)| String::from_utf8(bytes.clone()).unwrap())
    };
    let asf = text(Format::Asf).unwrap();
    match text(Format::Amc) {
        Some(amc) => read_both(&asf, &amc),
        None => read_asf(&asf),
    }
}

#[test]
fn c1_every_text_of_these_tests_comes_back_as_the_same_document() {
    for fields in [
        "direction 0 1 0\nlength 10",
        "length 0\naxis 1 2 3 ZYX\ndof\nlimits (1 2)",
        "direction 0 .7 .7\nlength 10\naxis 1 2 3 YZX\ndof rx tz l\nlimits (-inf 1)(2 inf)(3 4)",
        "foo (1 2)\n(3 4)\n# note\ndirection 0 1 0\nlength 1e-300\naxis 0 0 0\nid  a  b ",
    ] {
        check_document(&read_asf(&two_bones(fields)));
    }
    let odd = ":documentation :x\n#y\n:\n:other rest # of\n\tline\n :units\n length 3\n foo\n";
    check_document(&read_asf(&(odd.to_owned() + ":root\norder\n:hierarchy\n")));
}

// ---- motion ------------------------------------------------------------------------------------

const PLAIN: &str = "direction 0 1 0\nlength 10\naxis 0 0 0 XYZ\ndof rx ry rz";

#[test]
fn c1_bones_come_in_any_order_and_missing_ones_keep_their_values() {
    let text =
        asf(ROOT, &[("a", PLAIN), ("b", &up("dof rx")), ("c", &up(""))], &["root a", "a b c"]);
    let amc = ":FULLY-SPECIFIED\n7\nroot 1 2 3 4 5 6\na 1 2 3\nb 4\nc\n\
        8\nb 5 # five\na 4 5 6\nroot 0 0 0 0 0 0\n\
        9\nroot 0 0 0 0 0 0\nb 6\n\
        10 # ten\na 7 8 9\n# word\nb 720\nroot 1 1 1 1 1 1\n";
    let read = read_both(&text, amc);
    let missing = WarningKind::MissingBone { bone: "a".to_owned(), frames: 1 };
    assert_eq!(kinds(&read), [missing]);
    let columns = clip(&read.file).channels().unwrap().columns();
    assert_eq!(columns.column(6), [1.0, 4.0, 4.0, 7.0]);
    assert_eq!(columns.column(8), [3.0, 6.0, 6.0, 9.0]);
    assert_eq!(columns.column(9), [4.0, 5.0, 6.0, 720.0]);
    let Origin::Acclaim(origin) = &read.file.origin else { panic!("{:?}", read.file.origin) };
    let document = origin.amc.as_ref().unwrap();
    assert_eq!(document.bones, ["root", "a", "b", "c"]);
    assert_eq!(document.first_frame, 7);
    check_document(&read);

    // Before its first line a bone is at zero.
    let late = read_both(
        &two_bones(PLAIN),
        "1\nroot 0 0 0 0 0 0\nb 1\n2\nroot 0 0 0 0 0 0\nb 1\na 1 2 3\n",
    );
    assert_eq!(clip(&late.file).channels().unwrap().columns().column(7), [0.0, 2.0]);
}

#[test]
fn c1_header_lines_rates_and_frame_numbers() {
    let frames = "5\nroot 0 0 0 0 0 0\na 0 0 0\nb 0\n7\nroot 0 0 0 0 0 0\na 0 0 0\nb 0\n7\nroot 0 0 0 0 0 0\na 0 0 0\nb 0\n";
    let read =
        read_both(&two_bones(PLAIN), &format!("# x\n:SAMPLES-PER-SECOND 50\n:odd 1\n{frames}"));
    assert_eq!(clip(&read.file).rate().nominal_fps(), 50.0);
    let numbers = WarningKind::FrameNumbers { expected: 6, found: 7 };
    assert_eq!(kinds(&read), [WarningKind::UnknownField { name: ":odd".to_owned() }, numbers]);
    assert_eq!(read.warnings[1].at, Some(Position::Text { line: 8, column: 1 }));
    assert_eq!(clip(&read.file).frame_count(), 3);
    let usual = read_both(&two_bones(PLAIN), frames);
    assert_eq!(clip(&usual.file).rate().nominal_fps(), 120.0);
    let asf = read_asf(&two_bones(PLAIN));
    let options = ReadOptions { rate: FrameRate::from_fps(30.0), ..ReadOptions::default() };
    let given = crate::formats::read(frames.as_bytes(), Some(&asf.file), &options).unwrap();
    assert_eq!(clip(&given.file).rate().nominal_fps(), 30.0);
    let said = format!(":SAMPLES-PER-SECOND 50\n{frames}");
    let both = crate::formats::read(said.as_bytes(), Some(&asf.file), &options).unwrap();
    assert_eq!(clip(&both.file).rate().nominal_fps(), 50.0, "what the file says counts more");
    // The rate is written where it is not the usual one, so that it survives.
    for read in [&read, &given, &both] {
        let written = write(&read.file, Format::Amc, &WriteOptions::default()).unwrap();
        let again = reread(&written);
        assert_eq!(clip(&again.file).rate().nominal_fps(), clip(&read.file).rate().nominal_fps());
    }
    let empty = read_both(&two_bones(PLAIN), ":FULLY-SPECIFIED\n");
    assert!(empty.file.clip.is_none());
    assert_eq!(kinds(&empty), [WarningKind::NoMotion]);
}

#[test]
fn c1_a_motion_that_breaks_off_is_refused_or_read_up_to_its_last_whole_frame() {
    let asf = read_asf(&two_bones(PLAIN));
    let frame = "root 0 0 0 0 0 0\na 1 2 3\nb 4\n";
    let two = format!("1\n{frame}2\n{frame}3\n");
    for (tail, place, message) in [
        ("", "10:1", "the file ends within frame 2: bone \"root\" is missing"),
        (
            "root 0 0 0 0 0 0\na 1 2 3",
            "11:8",
            "the file ends within frame 2: bone \"b\" is missing",
        ),
        (
            "root 0 0 0 0 0 0\na 1 2",
            "11:6",
            "the file ends within frame 2, in the values of bone \"a\"",
        ),
        (
            "root 0 0 0 0 0 0\na 1 2\nb 4\n",
            "11:1",
            "bone \"a\" has 2 values in frame 2 (from 0), but the skeleton declares 3 degrees of freedom",
        ),
    ] {
        let text = two.clone() + tail;
        check_error(try_amc(&asf, text.as_bytes(), Mode::Repair), place, message);
        let lenient = try_amc(&asf, text.as_bytes(), Mode::Lenient).unwrap();
        assert_eq!(clip(&lenient.file).frame_count(), 2, "{tail:?}");
        let dropped =
            WarningKind::Dropped { bytes: 2 + tail.len() as u64, why: message.to_owned() };
        assert_eq!(kinds(&lenient), [dropped]);
        assert_eq!(lenient.warnings[0].at, Some(Position::Text { line: 9, column: 1 }));
    }
    // A dropped frame does not count for the bones that are missing elsewhere.
    let text = format!("1\n{frame}2\nroot 0 0 0 0 0 0\nb 4\n3\na 1 2 3\n");
    let lenient = try_amc(&asf, text.as_bytes(), Mode::Lenient).unwrap();
    let missing = WarningKind::MissingBone { bone: "a".to_owned(), frames: 1 };
    assert_eq!(kinds(&lenient)[1..], [missing]);
    let first = "every value of the first frame is missing";
    check_error(try_amc(&asf, b"1\n", Mode::Lenient), "1:1", first);
    check_error(try_amc(&asf, b":DEGREES\n1\n2\nb 1\n", Mode::Repair), "2:1", first);
}

#[test]
fn c1_every_error_of_a_motion_has_its_place() {
    let asf = read_asf(&two_bones(PLAIN));
    let check = |amc: &str, place: &str, message: &str| {
        check_error(try_amc(&asf, amc.as_bytes(), Mode::Repair), place, message);
    };
    check("root 1\n", "1:1", "expected a frame number, found \"root\"");
    check("1\nroot 0 0 0 0 0 0\n  nose 1\n", "3:3", "the skeleton has no joint \"nose\"");
    check(
        "1\r\nroot 0 0 0 0 0 0\r\n a 1 2 3 4\r\n",
        "3:2",
        "bone \"a\" has 4 values in frame 0 (from 0), but the skeleton declares 3 degrees of freedom",
    );
    check("1\nb 1\nb 2\n", "3:1", "bone \"b\" in frame 0 appears a second time");
    check("1\nb x\n", "2:3", "\"x\" is not a number");
    check("1\na 1 2 3,5\n", "2:7", "\"3,5\" is not a number");
    check("1\nb nan\n", "2:3", "the value \"nan\" is not a finite number");
    check("1\nb 1e999\n", "2:3", "the value \"1e999\" is not a finite number");
    check(":SAMPLES-PER-SECOND 0\n1\n", "1:1", "0 samples per second make no frame rate");
    check(
        ":SAMPLES-PER-SECOND\n1\n",
        "1:20",
        "expected the number of samples per second, found the end of the line",
    );
    let bvh = b"HIERARCHY\nROOT Hips\n{\nOFFSET 0 0 0\nCHANNELS 3 Zrotation Xrotation Yrotation\n}\nMOTION\nFrames: 1\nFrame Time: 0.01\n1 2 3\n";
    let bvh = read(bvh, None, &ReadOptions::default()).unwrap();
    let error = try_amc(&bvh, b"1\n", Mode::Repair).unwrap_err();
    assert_eq!(error.kind(), &ReadErrorKind::MissingSkeleton);
}

#[test]
fn c1_every_error_of_a_skeleton_has_its_place() {
    let check = |text: &str, place: &str, message: &str| {
        check_error(try_asf(text.as_bytes()), place, message);
    };
    let bone = |fields: &str| two_bones(fields);
    check("root\n", "1:1", "expected a section such as \":version\", found \"root\"");
    check(":name x\n", "1:8", "the :root section is missing");
    check(":units\nlength 0\n:root\n", "2:1", "the length unit \"0\" is not a positive number");
    check(":units\nangle grad\n:root\n", "2:1", "the angle unit \"grad\" is neither deg nor rad");
    check(":root\n:root\n", "2:1", "section :root appears a second time (first at 1:1)");
    check(":root\norder TX L\n", "2:10", "expected tx, ty, tz, rx, ry, rz, found \"L\"");
    check(
        ":root\naxis XYX\n",
        "2:6",
        "expected an axis order: the letters X, Y and Z, each once, found \"XYX\"",
    );
    check(":root\nposition 1 2\n", "2:13", "expected three numbers, found the end of the line");
    check(":root\nposition 1 2 3 4\n", "2:16", "expected the end of the line, found \"4\"");
    check(":root\norientation 1 2 inf\n", "2:17", "the value \"inf\" is not a finite number");
    check(
        ":bonedata\nbegin\nname a\n",
        "4:1",
        "the file ends within a bone: its \"end\" is missing",
    );
    check(
        ":bonedata\nbegin\nname a\nbegin\n",
        "4:1",
        "expected \"end\" of the bone, found \"begin\"",
    );
    check(
        ":bonedata\nbegin\n:hierarchy\n",
        "3:1",
        "expected a field or \"end\" of the bone, found \":hierarchy\"",
    );
    check(":bonedata\nbegin\nend\n", "2:1", "the name of this bone is missing");
    check(
        ":hierarchy\nbegin\n",
        "3:1",
        "the file ends within the hierarchy: its \"end\" is missing",
    );
    check(&bone("dof rx ry rx"), "15:11", "\"rx\" in this list appears a second time");
    check(&bone("dof rx q"), "15:8", "expected tx, ty, tz, rx, ry, rz or l, found \"q\"");
    check(
        &bone("limits (1)"),
        "15:11",
        "expected the two numbers of a limit, found the end of the line",
    );
    check(&bone("limits (1 nan)"), "15:11", "the value \"nan\" is not a finite number");
    check(&bone("direction 0 1 0"), "13:1", "the length of bone \"a\" is missing");
    check(&bone("length 1"), "13:1", "the direction of bone \"a\" is missing");
    check(
        &bone("length 1\ndirection 0 0 0"),
        "13:1",
        "bone \"a\" has a length but its direction is zero",
    );
    check(
        &bone("length 1,5\ndirection 0 1 0"),
        "15:10",
        "expected the end of the line, found \"5\"",
    );

    let tree = |hierarchy: &[&str]| {
        let (a, b, c) = (up(""), up(""), up(""));
        asf("order TX", &[("a", &a), ("b", &b), ("c", &c)], hierarchy)
    };
    // Bones begin in lines 10, 17 and 24, the hierarchy in line 33.
    check(
        &tree(&["root a b x"]),
        "33:10",
        "the hierarchy names a bone \"x\" that :bonedata does not have",
    );
    check(&tree(&["y a"]), "33:1", "the hierarchy names a bone \"y\" that :bonedata does not have");
    check(
        &tree(&["root a b", "a c", "b c"]),
        "35:3",
        "bone \"c\" has two parents, \"a\" and \"b\"",
    );
    check(&tree(&["root a b a"]), "33:10", "bone \"a\" is listed twice below \"root\"");
    check(&tree(&["root a", "a b", "b root"]), "35:3", "the root cannot have a parent");
    check(&tree(&["root a", "a b"]), "24:1", "bone \"c\" is not attached by the hierarchy");
    check(&tree(&["root a", "b c", "c b"]), "35:3", "bone \"b\" is its own ancestor");
    let twice = asf(ROOT, &[("a", &up("")), ("a", &up(""))], &["root a"]);
    check(&twice, "20:1", "the bone name \"a\" appears a second time (first at 13:1)");
    let no_tree = tree(&[]);
    let no_tree = no_tree.split(":hierarchy").next().unwrap();
    // What is missing is missing at the end.
    let lines: Vec<&str> = no_tree.trim_end().lines().collect();
    let end = format!("{}:{}", lines.len(), lines[lines.len() - 1].chars().count() + 1);
    check(no_tree, &end, "the :hierarchy section is missing");
}

#[test]
fn c1_directions_are_scaled_to_length_one() {
    let long = read_asf(&two_bones("direction 0 3 4\nlength 10\naxis 0 0 0 XYZ"));
    let b = joint(&long.file, "b");
    close(long.file.skeleton[b].offset_m, DVec3::new(0.0, 0.06, 0.08));
    assert!(matches!(&kinds(&long)[..], [WarningKind::Repaired { .. }]));
    let rounded = read_asf(&two_bones("direction 0 0.6002 0.8\nlength 10\naxis 0 0 0 XYZ"));
    assert!(kinds(&rounded).is_empty());
    close(DVec3::splat(rounded.file.skeleton[b].offset_m.length()), DVec3::splat(0.1));
}

// ---- connectors --------------------------------------------------------------------------------

#[test]
fn c2_connectors_are_folded_only_if_they_are_ours() {
    let zero = "direction 0 0 1\nlength 0\naxis 0 0 0 XYZ\ndof rx";
    let read = |connector: &str, hierarchy: &[&str]| {
        let text = asf(ROOT, &[("p", zero), ("p__q", connector), ("q", &up("dof rx"))], hierarchy);
        read_asf(&text).file
    };
    let tree = ["root p", "p p__q", "p__q q"];
    let sideways = "direction 1 0 0\nlength 3\naxis 0 0 0 XYZ";
    let file = read(sideways, &tree);
    assert_eq!(file.skeleton.len(), 3);
    let q = joint(&file, "q");
    close(file.skeleton[q].offset_m, DVec3::new(0.03, 0.0, 0.0));
    assert_eq!(file.skeleton.parent(q), file.skeleton.find("p"));
    assert!(file.skeleton[joint(&file, "p")].end_sites.is_empty());
    // With a freedom, a turned space, a field, or other children it is a joint of its own.
    for (fields, tree) in [
        ("dof rx", tree),
        ("bodymass 1", tree),
        ("limits (1 2)", tree),
        ("dof", ["root p", "p p__q q", "q"]),
    ] {
        assert_eq!(read(&format!("{sideways}\n{fields}"), &tree).skeleton.len(), 4, "{fields}");
    }
    assert_eq!(read("direction 1 0 0\nlength 3\naxis 0 0 1 XYZ", &tree).skeleton.len(), 4);

    let ends = [("p", zero), ("p__End", sideways), ("p__End2", zero), ("p__Ending", sideways)];
    let ends = ends.map(|(n, f)| (n, f.replace("dof rx", if n == "p" { "dof rx" } else { "" })));
    let ends: Vec<_> = ends.iter().map(|(n, f)| (*n, f.as_str())).collect();
    let file = read_asf(&asf(ROOT, &ends, &["root p", "p p__End p__End2 p__Ending"])).file;
    let sites = &file.skeleton[joint(&file, "p")].end_sites;
    assert_eq!(sites.len(), 2);
    close(sites[0].offset_m, DVec3::new(0.03, 0.0, 0.0));
    assert_eq!((sites[1].offset_m, file.skeleton.len()), (DVec3::ZERO, 3));
}

#[test]
fn c2_the_root_gets_its_name_back() {
    let named = |comment: &str| {
        let read = read_asf(&format!("{comment}\n{}", two_bones(PLAIN)));
        read.file.skeleton.joints()[0].name.clone()
    };
    assert_eq!(named("# condyle:root-name Bip01 Pelvis"), "Bip01 Pelvis");
    assert_eq!(named("#condyle:root-name Hips"), "Hips");
    assert_eq!(named("# condyle:root-name a"), "root");
    assert_eq!(named("# condyle:root-names x"), "root");
}

// ---- writing -----------------------------------------------------------------------------------

/// Joint centres, end sites, and rotations up to a constant per joint, over all frames.
#[track_caller]
fn check_same_motion(before: &MotionFile, after: &MotionFile) {
    let (a, b) = (world(before), world(after));
    assert_eq!(clip(before).frame_count(), clip(after).frame_count());
    for j in before.skeleton.indices() {
        let name = &before.skeleton[j].name;
        let k = joint(after, name);
        let constant = a.rotation(j, 0).inverse() * b.rotation(k, 0);
        let sites = |s: &Skeleton, j| s[j].end_sites.iter().map(|e| e.offset_m).collect::<Vec<_>>();
        let (ends, others) = (sites(&before.skeleton, j), sites(&after.skeleton, k));
        assert_eq!(ends.len(), others.len(), "{name}");
        for f in 0..clip(before).frame_count() {
            close(a.position_m(j, f), b.position_m(k, f));
            let turn = (a.rotation(j, f) * constant).distance(b.rotation(k, f));
            assert!(turn.radians() < 1e-12, "{name} in {f}: {turn:?}");
            for (x, y) in ends.iter().zip(&others) {
                close(
                    a.position_m(j, f) + a.rotation(j, f) * *x,
                    b.position_m(k, f) + b.rotation(k, f) * *y,
                );
            }
        }
    }
}

fn check_writes(file: &MotionFile) -> Read {
    let again = reread(&write(file, Format::Amc, &WriteOptions::default()).unwrap());
    check_same_motion(file, &again.file);
    check_document(&again);
    again
}

#[test]
fn c2_prop_any_skeleton_and_motion_survives() {
    arbtest::arbtest(|u| {
        let mut s = Skeleton::new();
        let mut tracks = Vec::new();
        let frames = 4;
        for i in 0..u.int_in_range(1..=8)? {
            let offset = arbitrary::direction(u)? * 0.2;
            let offset = if u.ratio(1, 4)? { DVec3::ZERO } else { offset };
            let mut joint = Joint::new(format!("j{i}"), offset);
            if u.ratio(1, 3)? {
                joint.rest = arbitrary::rotation(u)?;
            }
            for _ in 0..u.int_in_range(0..=2)? {
                let offset_m = if u.ratio(1, 5)? { DVec3::ZERO } else { arbitrary::direction(u)? };
                joint.end_sites.push(EndSite { name: None, offset_m });
            }
            let rest = joint.rest;
            let parent = u.int_in_range(0..=i)?;
            let added = match (parent, i) {
                (_, 0) => s.add_root(joint),
                (p, _) if p == i && u.ratio(1, 3)? => s.add_root(joint),
                (p, _) => s.add(JointIndex::new(p.min(i - 1)), joint),
            };
            added.unwrap();
            let turns = (0..frames).map(|_| Ok(rest * arbitrary::rotation(u)?));
            let turns: Vec<Rotation> = turns.collect::<::arbitrary::Result<_>>()?;
            tracks.push(match u.int_in_range(0..=2)? {
                0 => Track::constant(rest, offset),
                1 => Track::turning(turns.into_iter().collect(), offset),
                _ => {
                    let places = (0..frames).map(|_| arbitrary::direction(u));
                    let places: Vec<DVec3> = places.collect::<::arbitrary::Result<_>>()?;
                    Track::from_parts(
                        turns.into_iter().collect(),
                        KeyTimes::EveryFrame,
                        places.into_iter().collect(),
                        KeyTimes::EveryFrame,
                    )
                }
            });
        }
        let made = Clip::new(frames, FrameRate::from_fps(60.0).unwrap(), tracks).unwrap();
        let _ = check_writes(&MotionFile::new(s, made));
        Ok(())
    });
}

const BVH: &str = "HIERARCHY
ROOT Hips
{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation
  JOINT Left Leg
  {
    OFFSET 10 0 0
    CHANNELS 3 Yrotation Xrotation Zrotation
    JOINT Foot
    {
      OFFSET 0 -40 0
      CHANNELS 1 Xrotation
      End Site
      {
        OFFSET 0 0 7
      }
    }
  }
  JOINT root
  {
    OFFSET -10 0 0
    CHANNELS 6 Zposition Xposition Yposition Zrotation Xrotation Zrotation
    End Site
    {
      OFFSET 0 -9 0
    }
    End Site
    {
      OFFSET 0 -9 1
    }
  }
}
MOTION
Frames: 2
Frame Time: 0.04
1.1 2.2 3.3 40.4 50.5 60.6 7.7 8.8 9.9 -370.25 1 -9 2 10 20 30
0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1.25 0 -10 0 11 21 31
";

#[test]
fn c2_bvh_numbers_are_copied_with_the_order_turned_round() {
    let bvh = read(BVH.as_bytes(), None, &ReadOptions::default()).unwrap().file;
    let written = write(&bvh, Format::Amc, &WriteOptions::default()).unwrap();
    let [(Format::Amc, amc), (Format::Asf, asf)] = &written.parts[..] else {
        panic!("{:?}", written.parts.len());
    };
    let (amc, asf) = (str::from_utf8(amc).unwrap(), str::from_utf8(asf).unwrap());
    for line in [
        ":SAMPLES-PER-SECOND 25",
        // Root: Z Y X with Z leftmost acts X first.
        "root 1.1 2.2 3.3 60.6 50.5 40.4",
        "Left_Leg 9.9 8.8 7.7",
        "Foot -370.25",
        "Left_Leg 0.9 0.8 0.7",
    ] {
        assert!(amc.lines().any(|l| l == line), "{line}\n{amc}");
    }
    for line in [
        "# condyle:root-name Hips",
        "  length 2.54",
        "  order TX TY TZ RX RY RZ",
        "    name root__Left_Leg",
        "    dof rz rx ry",
        "    name root___End",
        "    name root___End2",
        "    root root__Left_Leg root__root_",
    ] {
        assert!(asf.lines().any(|l| l == line), "{line}\n{asf}");
    }
    let renamed: Vec<_> = written.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        renamed,
        [
            "joint \"Left Leg\" is called \"Left_Leg\" in the ASF",
            "joint \"root\" is called \"root_\" in the ASF"
        ]
    );
    let mut expected = bvh.clone();
    // The same but for the names.
    let mut renamed = Skeleton::new();
    for j in bvh.skeleton.indices() {
        let mut joint = bvh.skeleton[j].clone();
        joint.name = match joint.name.as_str() {
            "Left Leg" => "Left_Leg".to_owned(),
            "root" => "root_".to_owned(),
            other => other.to_owned(),
        };
        match bvh.skeleton.parent(j) {
            Some(p) => renamed.add(p, joint).unwrap(),
            None => renamed.add_root(joint).unwrap(),
        };
    }
    expected.skeleton = renamed;
    check_same_motion(&expected, &reread(&written).file);
}

#[test]
fn c2_several_roots_hang_below_a_root_that_stands_still() {
    let mut s = Skeleton::new();
    for (name, offset) in [("one", DVec3::X), ("two", DVec3::ZERO)] {
        let root = s.add_root(Joint::new(name, offset)).unwrap();
        s.add(root, Joint::new(format!("{name} tip"), DVec3::Y)).unwrap();
    }
    let spin: Rotations =
        (0..3).map(|i| Rotation::about_y(Angle::from_degrees(70.0 * f64::from(i)))).collect();
    let still = |offset| Track::constant(Rotation::IDENTITY, offset);
    let tracks =
        vec![Track::turning(spin, DVec3::Z), still(DVec3::Y), still(DVec3::ZERO), still(DVec3::Y)];
    let made = Clip::new(3, FrameRate::from_fps(120.0).unwrap(), tracks).unwrap();
    let file = MotionFile::new(s, made);
    let again = reread(&write(&file, Format::Amc, &WriteOptions::default()).unwrap());
    let names: Vec<_> = again.file.skeleton.joints().iter().map(|j| j.name.as_str()).collect();
    assert_eq!(names, ["root", "one", "one_tip", "two", "two_tip"]);
    let (one, tip) = (joint(&again.file, "one"), joint(&again.file, "two_tip"));
    close(world(&again.file).position_m(one, 2), DVec3::Z);
    close(again.file.skeleton[one].offset_m, DVec3::X);
    close(world(&again.file).position_m(tip, 2), DVec3::Y);
    assert_eq!(again.file.skeleton[tip].declared.dofs, Some(vec![]));
}

#[test]
fn c2_unedited_frames_keep_their_numbers_and_edited_ones_get_new_ones() {
    let text = asf(
        ROOT,
        &[
            ("a", "direction 0 1 0\nlength 10\naxis 10 20 30 XYZ\ndof rx ry rz"),
            ("b", &up("dof rx rz\nlimits (-1 1)(2 3)")),
        ],
        &["root a", "a b"],
    );
    let amc = "3\nroot 0.1 0 0 0 0 0\nb 0.30000000000000004 500\na 1e-17 0 725\n4\nroot 0 0 0 0 0 0\nb 1 510\na 1 2 730\n";
    let read = read_both(&text, amc);
    let mut file = read.file.clone();
    let (a, b) = (joint(&file, "a"), joint(&file, "b"));
    let rest = |j: JointIndex| read.file.skeleton[j].rest;
    // Representable turns of a and b in frame 1, near those of frame 0.
    let about =
        |axis: DVec3, deg: f64| Rotation::from_axis_angle(axis, Angle::from_degrees(deg)).unwrap();
    let clip_mut = file.clip.as_mut().unwrap();
    clip_mut.set_rotation(
        a,
        FrameIndex(1),
        rest(a) * about(DVec3::Z, 15.0) * about(DVec3::X, -3.0),
    );
    clip_mut.set_rotation(
        b,
        FrameIndex(1),
        rest(b) * about(DVec3::Z, 160.0) * about(DVec3::X, 7.0),
    );
    let written = write(&file, Format::Amc, &WriteOptions::default()).unwrap();
    assert!(written.warnings.is_empty(), "{:?}", written.warnings);
    let lines: Vec<&str> = str::from_utf8(&written.parts[0].1).unwrap().lines().collect();
    // The header, order and first number of the source; frame 0 unchanged to the last digit.
    assert_eq!(
        lines[..4],
        ["3", "root 0.1 0 0 0 0 0", "b 0.30000000000000004 500", "a 1e-17 0 725"]
    );
    let numbers =
        |line: &str| -> Vec<f64> { line.split(' ').skip(1).map(|w| w.parse().unwrap()).collect() };
    let near = |line: &str, expected: &[f64]| {
        let found = numbers(line);
        assert!(found.iter().zip(expected).all(|(f, e)| (f - e).abs() < 1e-9), "{line}");
    };
    assert_eq!(lines[5], "root 0 0 0 0 0 0");
    near(lines[6], &[7.0, 520.0]);
    near(lines[7], &[-3.0, 0.0, 735.0]);
    check_same_motion(&file, &reread(&written).file);
}

#[test]
fn c2_a_bone_gets_more_freedom_where_an_edit_needs_it() {
    let text = asf(
        ROOT,
        &[("a", &up("dof rz\nlimits (-9 9)")), ("b", &up("")), ("c", &up("dof ty l"))],
        &["root a", "a b", "b c"],
    );
    let amc = "1\nroot 0 0 0 0 0 0\na 725\nc 1 2\n2\nroot 0 0 0 0 0 0\na 6\nc 3 4\n";
    let mut file = read_both(&text, amc).file;
    let (a, b, c) = (joint(&file, "a"), joint(&file, "b"), joint(&file, "c"));
    let tilted = Rotation::from_axis_angle(DVec3::new(1.0, 2.0, 3.0), Angle::from_degrees(40.0));
    let clip_mut = file.clip.as_mut().unwrap();
    clip_mut.set_rotation(a, FrameIndex(1), tilted.unwrap());
    clip_mut.set_translation_m(b, FrameIndex(0), DVec3::new(0.1, 0.2, 0.3));
    clip_mut.set_translation_m(c, FrameIndex(1), DVec3::new(0.0, 0.25, 0.0));
    let written = write(&file, Format::Amc, &WriteOptions::default()).unwrap();
    let messages: Vec<_> = written.warnings.iter().map(ToString::to_string).collect();
    let widened = |bone: &str, n: usize| {
        format!(
            "the motion of bone {bone:?} does not fit its degrees of freedom; {n} more were added"
        )
    };
    assert_eq!(messages, [widened("a", 2), widened("b", 3)]);
    let again = reread(&written);
    check_same_motion(&file, &again.file);
    let lines: Vec<&str> = str::from_utf8(&written.parts[0].1).unwrap().lines().collect();
    assert_eq!(lines[2], "a 0 0 725");
    // The new angles follow those of the frame before.
    let rz: f64 = lines[7].split(' ').nth(3).unwrap().parse().unwrap();
    assert!((rz - 725.0).abs() < 90.0, "{}", lines[7]);
    assert_eq!(lines[3], "c 1 2");
    let dofs = |j| {
        let declared = again.file.skeleton[j].declared.dofs.clone().unwrap();
        declared.iter().map(|d| d.dof).collect::<Vec<_>>()
    };
    // In the order of the axes, as other readers take them for; limits go with theirs.
    assert_eq!(dofs(a), [Dof::Rx, Dof::Ry, Dof::Rz]);
    let limits = again.file.skeleton[a].declared.dofs.clone().unwrap();
    let nine = 9_f64.to_radians();
    assert_eq!(limits[2].limit, Some((-nine, nine)));
    assert_eq!(limits[0].limit, Some((f64::NEG_INFINITY, f64::INFINITY)));
    assert_eq!(dofs(b), [Dof::Tx, Dof::Ty, Dof::Tz]);
    assert!(!again.warnings.iter().any(crate::formats::Warning::is_repair));
}

#[test]
fn c2_turns_that_are_added_keep_to_the_order_of_the_axes() {
    let tilted = Rotation::from_axis_angle(DVec3::new(1.0, 2.0, 3.0), Angle::from_degrees(40.0));
    let bone = |dof: &str, order: &str| {
        format!("direction 0 1 0\nlength 10\naxis 0 0 20 {order}\ndof {dof}\n")
    };
    // Turns in the order of the axes get the others between them; others get them behind.
    for (dof, order, wanted, first) in [
        ("rx rz", "XYZ", "rx ry rz", "a 5 0 7"),
        ("rx", "ZYX", "rz ry rx", "a 0 0 5"),
        ("ry rx", "XYZ", "ry rx rz", "a 5 7 0"),
        ("tx ry l", "XYZ", "tx rx ry rz l", "a 5 0 7 0 9"),
    ] {
        let text = asf(ROOT, &[("a", &bone(dof, order))], &["root a"]);
        let numbers = ["5", "7", "9"][..dof.split(' ').count()].join(" ");
        let amc = format!("1\nroot 0 0 0 0 0 0\na {numbers}\n2\nroot 0 0 0 0 0 0\na {numbers}\n");
        let mut file = read_both(&text, &amc).file;
        let a = joint(&file, "a");
        file.clip.as_mut().unwrap().set_rotation(a, FrameIndex(1), tilted.unwrap());
        let written = write(&file, Format::Amc, &WriteOptions::default()).unwrap();
        let asf = str::from_utf8(&written.parts[1].1).unwrap();
        assert!(asf.contains(&format!("dof {wanted}\n")), "{dof}: {asf}");
        let amc = str::from_utf8(&written.parts[0].1).unwrap();
        assert!(amc.contains(&format!("{first}\n")), "{dof}: {amc}");
        check_same_motion(&file, &reread(&written).file);
    }
}

#[test]
fn c2_another_unit_scales_every_length() {
    let root = "order TX TY TZ RX RY RZ\naxis XYZ\nposition 1 2 3\norientation 0 90 0";
    let text = asf(
        root,
        &[("a", &up("dof tx l\nlimits (1 2)(3 4)")), ("b", &up("dof rx"))],
        &["root a", "a b"],
    );
    let amc = "1\nroot 1 2 3 4 5 6\na 7 8\nb 9\n2\nroot 1 2 3 4 5 6\na -7 8\nb 9\n";
    let file = read_both(&text, amc).file;
    let options =
        WriteOptions { unit: OutputUnit::Unit(LengthUnit::MM), ..WriteOptions::default() };
    let written = write(&file, Format::Amc, &options).unwrap();
    let asf = str::from_utf8(&written.parts[1].1).unwrap();
    assert!(asf.contains("  length 25.4\n") && asf.contains("    length 100\n"), "{asf}");
    let again = reread(&written).file;
    assert_eq!(again.units.length.name(), Some("mm"));
    check_same_motion(&file, &again);
    let limits = |f: &MotionFile| -> Vec<(f64, f64)> {
        let dofs = f.skeleton[joint(f, "a")].declared.dofs.clone().unwrap();
        dofs.iter().map(|d| d.limit.unwrap()).collect()
    };
    for (a, b) in limits(&file).into_iter().zip(limits(&again)) {
        assert!((a.0 - b.0).abs() < 1e-15 && (a.1 - b.1).abs() < 1e-15);
    }
    // A unit that was given by hand is declared when writing, and the numbers stay.
    let given = ReadOptions { source_unit: Some(LengthUnit::M), ..ReadOptions::default() };
    let silent = text.replace(" length 2.54\n", "");
    let metres = read(silent.as_bytes(), None, &given).unwrap().file;
    let written = write(&metres, Format::Asf, &WriteOptions::default()).unwrap();
    let asf = str::from_utf8(&written.parts[0].1).unwrap();
    assert!(asf.contains("  length 0.0254\n") && asf.contains("    length 10\n"), "{asf}");
    assert_eq!(reread(&written).file.units.length.name(), Some("m"));
}

#[test]
fn c2_a_changed_skeleton_is_written_afresh() {
    let a = "direction 0 1 0\nlength 10\naxis 10 20 30 ZXY\ndof rx ry rz\nlimits (0 1)(2 3)(4 5)";
    let text = asf(
        "order TX TY TZ RX RY RZ\naxis XYZ\nposition 1 2 3\norientation 5 6 7",
        &[("a", a), ("b", PLAIN), ("c", PLAIN)],
        &["root a", "a b c"],
    );
    let amc = "1\nroot 1 2 3 4 5 6\na 7 8 9\nb 10 11 12\nc 1 2 3\n2\nroot 3 2 1 40 50 60\na 70 80 90\nb -10 -11 12\nc 300 1 2\n";
    let file = read_both(&text, amc).file;
    let mut moved = Skeleton::new();
    for j in file.skeleton.indices() {
        let mut joint = file.skeleton[j].clone();
        if joint.name == "c" {
            joint.offset_m += DVec3::X;
        }
        match file.skeleton.parent(j) {
            Some(p) => moved.add(p, joint).unwrap(),
            None => moved.add_root(joint).unwrap(),
        };
    }
    let tracks = file.skeleton.indices().map(|j| {
        let t = clip(&file).track(j).clone();
        if moved[j].name == "c" {
            Track::turning(t.rotations().clone(), moved[j].offset_m)
        } else {
            t
        }
    });
    let made = Clip::new(2, clip(&file).rate(), tracks.collect()).unwrap();
    let changed = MotionFile { skeleton: moved, clip: Some(made), ..file };
    let again = check_writes(&changed);
    // Every bone is aligned with the world, and limits about other axes are not claimed.
    for joint in again.file.skeleton.joints() {
        assert!(joint.rest.angle().radians() < 1e-15);
        assert!(
            joint.declared.dofs.iter().flatten().all(|d| d.limit.is_none_or(|l| l == UNLIMITED))
        );
    }
}

/// The same file with another end site, so that its document no longer fits.
fn with_another_end(file: &MotionFile, at: &str) -> MotionFile {
    let mut changed = Skeleton::new();
    for j in file.skeleton.indices() {
        let mut joint = file.skeleton[j].clone();
        if joint.name == at {
            joint.end_sites.push(EndSite { name: None, offset_m: DVec3::splat(0.5) });
        }
        match file.skeleton.parent(j) {
            Some(p) => changed.add(p, joint).unwrap(),
            None => changed.add_root(joint).unwrap(),
        };
    }
    MotionFile { skeleton: changed, ..file.clone() }
}

#[test]
fn c2_a_stretched_bone_becomes_shifts_of_its_children() {
    let text = asf(ROOT, &[("a", &up("dof l rx")), ("b", &up("dof ty rx"))], &["root a", "a b"]);
    let amc = "1\nroot 0 0 0 0 0 0\na 3 10\nb 1 20\n2\nroot 0 0 0 0 0 0\na -4 30\nb 2 40\n";
    let file = with_another_end(&read_both(&text, amc).file, "b");
    let again = check_writes(&file);
    assert!(clip(&again.file).channels().unwrap().joints().iter().all(|j| j.stretch.is_none()));
}

const UNLIMITED: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

#[test]
fn c2_declared_limits_are_written_where_the_axes_are_the_same() {
    let limits = |axis: &str| {
        let a = format!(
            "direction 0 1 0\nlength 10\naxis {axis} XYZ\ndof rx ry rz\nlimits (-90 1)(2 3)(4 inf)\nbodymass 7"
        );
        let file = with_another_end(&read_asf(&two_bones(&a)).file, "b");
        let again = reread(&write(&file, Format::Asf, &WriteOptions::default()).unwrap()).file;
        assert_eq!(again.skeleton[joint(&again, "b")].end_sites.len(), 2);
        let declared = again.skeleton[joint(&again, "a")].declared.clone();
        assert_eq!(declared.fields, [("bodymass".to_owned(), "7".to_owned())]);
        declared.dofs.unwrap().iter().map(|d| (d.dof, d.limit)).collect::<Vec<_>>()
    };
    let same = limits("0 0 0");
    assert_eq!(same[0], (Dof::Rx, Some((-FRAC_PI_2, 1_f64.to_radians()))));
    assert_eq!(same[2].1.unwrap().1, f64::INFINITY);
    let turned = limits("0 0 1");
    assert!(turned.iter().all(|(_, limit)| *limit == Some(UNLIMITED)), "{turned:?}");
}

#[test]
fn c2_a_joint_with_the_name_of_a_connector_stays() {
    let mut s = Skeleton::new();
    let root = s.add_root(Joint::new("hip", DVec3::ZERO)).unwrap();
    let a = s.add(root, Joint::new("a", DVec3::X)).unwrap();
    let between = s.add(a, Joint::new("a__b", DVec3::Y)).unwrap();
    s.add(between, Joint::new("b", DVec3::Y)).unwrap();
    s.add(a, Joint::new("a__End", DVec3::Z)).unwrap();
    let still = s.joints().iter().map(|j| Track::constant(Rotation::IDENTITY, j.offset_m));
    let made = Clip::new(1, FrameRate::from_fps(30.0).unwrap(), still.collect()).unwrap();
    let again = check_writes(&MotionFile::new(s, made));
    assert_eq!(again.file.skeleton.len(), 5);
}

#[test]
fn c2_what_cannot_be_written_is_said() {
    let empty = Clip::new(0, FrameRate::from_fps(30.0).unwrap(), vec![]).unwrap();
    let nothing = MotionFile::new(Skeleton::new(), empty);
    let error = write(&nothing, Format::Asf, &WriteOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "ASF needs a skeleton, and this file has none");
    let still = read_asf(&two_bones(PLAIN)).file;
    let error = write(&still, Format::Amc, &WriteOptions::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "AMC needs motion, and this file has only a skeleton; write .asf instead"
    );
}

/// A text with a few random edits: bytes replaced, pieces removed or doubled.
fn damaged(u: &mut ::arbitrary::Unstructured<'_>, text: &str) -> ::arbitrary::Result<Vec<u8>> {
    const PIECES: [&str; 24] = [
        "#", ":", "\n", "\r", " ", "(", ")", ",", "begin", "end", "root", "dof", "limits", "-inf",
        "nan", "1e999", "0", "-", "a", "\u{fc}", "\0", "l", ":units", "9",
    ];
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..u.int_in_range(1..=4)? {
        let at = u.int_in_range(0..=bytes.len())?;
        let end = u.int_in_range(at..=bytes.len().min(at + 12))?;
        match u.int_in_range(0..=3)? {
            0 => drop(bytes.drain(at..end)),
            1 => {
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
            }
            2 => drop(bytes.splice(at..end, u.choose(&PIECES)?.bytes())),
            _ => drop(bytes.splice(at..at, [u.arbitrary::<u8>()?])),
        }
    }
    Ok(bytes)
}

#[test]
fn c1_prop_damaged_skeletons_never_panic_and_what_reads_comes_back() {
    let text = asf(
        ROOT,
        &[
            ("a", &up("dof rx l\nlimits (-1 2)\n (-inf 4)\n# word\nodd 1")),
            ("a__b", "direction 1 0 0\nlength 2\naxis 0 0 0 XYZ"),
            ("b", "id 3\ndirection 0 1 0\nlength 1\naxis 1 2 3 ZYX\ndof rz tx"),
        ],
        &["root a", "a a__b", "a__b b"],
    );
    arbtest::arbtest(|u| {
        let damaged = damaged(u, &text)?;
        if let Ok(read) = try_asf(&damaged) {
            check_document(&read);
        }
        Ok(())
    });
}

#[test]
fn c1_prop_damaged_motions_never_panic_and_what_reads_comes_back() {
    let asf = read_asf(&asf(
        ROOT,
        &[("a", PLAIN), ("b", &up("dof rx l")), ("c", &up("dof ty"))],
        &["root a", "a b", "b c"],
    ));
    let mut text = "# x\n:FULLY-SPECIFIED\n:DEGREES\n".to_owned();
    for i in 1..5 {
        write!(text, "{i}\nroot 1 2 3 {i} 5 6\nc {i}.5\nb -{i} 2\na 1 2 3e-{i}\n").unwrap();
    }
    arbtest::arbtest(|u| {
        let damaged = damaged(u, &text)?;
        for mode in [Mode::Repair, Mode::Lenient] {
            if let Ok(read) = try_amc(&asf, &damaged, mode) {
                check_document(&read);
            }
        }
        Ok(())
    });
}

/// As of BVH: kept as they are, and no repair.
#[test]
fn angles_that_nobody_means_are_told_with_their_place() {
    let root = "axis XYZ\norientation 0 0 0\nposition 0 0 0\norder TX TY TZ RX RY RZ";
    let a = "direction 0 1 0\nlength 20\naxis 0 0 0 XYZ\ndof rx rz l";
    let text = asf(root, &[("a", a)], &["root a"]);
    let told = |amc: &str| -> Vec<(WarningKind, Option<Position>)> {
        let read = read_both(&text, amc);
        let far = read.warnings.iter().filter(|w| matches!(w.kind, WarningKind::FarTurn { .. }));
        far.map(|w| (w.kind.clone(), w.at)).collect()
    };
    let at = |line, column| Some(Position::Text { line, column });
    // Shifts and lengths may be long.
    let usual = "1\nroot 9e9 0 0 0 0 0\na 1 2 9e9\n2\nroot 0 0 0 0 0 -2e6\na 1 -1e300 0\n";
    let expected = WarningKind::FarTurn { degrees: -2e6, more: 1 };
    assert_eq!(told(usual), [(expected.clone(), at(5, 16))]);
    // The same by the careful reader, which a comment and another order need.
    let careful =
        "1\nroot 9e9 0 0 0 0 0\na 1 2 9e9\n2 # second\na 1 -1e300 0\nroot 0 0 0 0 0 -2e6\n";
    assert_eq!(told(careful), [(expected, at(6, 16))]);
    let radians = format!(":RADIANS\n{}", usual.replace("-2e6", "-2e4").replace("1e300", "1e2"));
    let [(WarningKind::FarTurn { degrees, more: 0 }, place)] = &told(&radians)[..] else {
        panic!("{:?}", told(&radians));
    };
    assert!((degrees + 2e4_f64.to_degrees()).abs() < 1e-6 && *place == at(6, 16), "{degrees}");
    assert!(told(&usual.replace("-2e6", "9e5").replace("1e300", "720")).is_empty());
}
