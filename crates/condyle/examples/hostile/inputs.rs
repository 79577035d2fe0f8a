//! The inputs, shared with the tests.

#![allow(unreachable_pub, reason = "included by an example and by tests")]

use condyle::formats::{Format, MotionFile, ReadErrorKind, ReadOptions, read};

/// One input and the error it has to get.
pub struct Input {
    /// What it is.
    pub what: &'static str,
    /// The file.
    pub bytes: Vec<u8>,
    /// What the reader is told that it is.
    pub format: Option<Format>,
    /// For AMC, its skeleton.
    pub skeleton: Option<MotionFile>,
    /// Whether an error is the right one.
    pub expected: fn(&ReadErrorKind) -> bool,
}

impl Input {
    fn new(
        what: &'static str,
        format: Format,
        bytes: impl Into<Vec<u8>>,
        expected: fn(&ReadErrorKind) -> bool,
    ) -> Self {
        Self { what, bytes: bytes.into(), format: Some(format), skeleton: None, expected }
    }
}

const ROOT: &str = "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 1 Xrotation\n}\n";

const ASF: &str = ":version 1.10\n:units\nlength 1\nangle deg\n:root\norder TX TY TZ RX RY RZ\n\
    axis XYZ\nposition 0 0 0\norientation 0 0 0\n:bonedata\n";

/// All of them; `blanks` is the length of those that are made of white space.
pub fn all(blanks: usize) -> Vec<Input> {
    use ReadErrorKind as K;
    const DEEP: usize = 100_000;
    let too_many: fn(&K) -> bool = |k| matches!(k, K::TooMany { .. });
    let not_finite: fn(&K) -> bool = |k| matches!(k, K::NotFinite { .. });
    let declared: fn(&K) -> bool = |k| matches!(k, K::Declared { .. });

    let deep_bvh = "JOINT a {\nOFFSET 0 0 0\n".repeat(DEEP).replacen("JOINT", "ROOT", 1);
    let mut deep_asf = ASF.to_owned();
    for i in 0..DEEP {
        deep_asf += &format!("begin\nname b{i}\ndirection 0 1 0\nlength 1\naxis 0 0 0 XYZ\nend\n");
    }
    deep_asf += ":hierarchy\nbegin\nroot b0\n";
    for i in 1..DEEP {
        deep_asf += &format!("b{} b{i}\n", i - 1);
    }
    deep_asf += "end\n";
    let bone = "begin\nname b\ndirection 0 1 0\nlength 1e999\naxis 0 0 0 XYZ\nend\n";
    let small = format!(
        "{ASF}begin\nname b\ndirection 0 1 0\nlength 1\naxis 0 0 0 XYZ\ndof rx\nend\n\
        :hierarchy\nbegin\nroot b\nend\n"
    );
    let asf_options = ReadOptions { format: Some(Format::Asf), ..ReadOptions::default() };
    let skeleton = read(small.as_bytes(), None, &asf_options).ok().map(|read| read.file);
    let trc = |frames: &str, x: &str| {
        format!(
            "PathFileType\t4\t(X/Y/Z)\tx.trc\nDataRate\tNumFrames\tNumMarkers\tUnits\n100\t{frames}\t1\tmm\n\
             Frame#\tTime\tHip\n\t\tX1\tY1\tZ1\n\n1\t0\t{x}\t2\t3\n"
        )
    };
    let row = "MOTION\nFrames: 1\nFrame Time: 0.01\n";
    let with_blanks = |head: &str, tail: &str| {
        let mut bytes = head.as_bytes().to_vec();
        bytes.resize(bytes.len() + blanks, b' ');
        bytes.extend_from_slice(tail.as_bytes());
        bytes
    };
    vec![
        Input::new("BVH, 100,000 joints deep", Format::Bvh, deep_bvh, too_many),
        Input::new("BVH, braces alone, 100,000 deep", Format::Bvh, "{".repeat(DEEP), |_| true),
        Input::new("ASF, 100,000 bones deep", Format::Asf, deep_asf, too_many),
        Input::new("BVH, 1e999 in a row", Format::Bvh, format!("{ROOT}{row}1e999\n"), not_finite),
        Input::new("ASF, 1e999 as length", Format::Asf, format!("{ASF}{bone}"), not_finite),
        Input {
            skeleton: skeleton.clone(),
            ..Input::new(
                "AMC, 1e999 in a row",
                Format::Amc,
                ":FULLY-SPECIFIED\n:DEGREES\n1\nroot 0 0 0 0 0 0\nb 1e999\n",
                not_finite,
            )
        },
        Input::new("TRC, 1e999 in a row", Format::Trc, trc("1", "1e999"), |_| true),
        Input::new(
            "BVH, 10^9 frames declared",
            Format::Bvh,
            format!("{ROOT}MOTION\nFrames: 1000000000\nFrame Time: 0.01\n1\n"),
            declared,
        ),
        Input::new("TRC, 10^9 frames declared", Format::Trc, trc("1000000000", "1"), declared),
        Input {
            format: None,
            ..Input::new("blanks alone", Format::Bvh, with_blanks("", ""), |k| *k == K::Empty)
        },
        Input::new(
            "BVH, blanks before a word that does not belong",
            Format::Bvh,
            with_blanks(ROOT, "x"),
            |k| matches!(k, K::Expected { .. }),
        ),
        Input::new(
            "BVH, blanks within a row, then a word",
            Format::Bvh,
            with_blanks(&format!("{ROOT}{row}1"), "x"),
            |k| matches!(k, K::BadNumber { .. }),
        ),
        Input::new(
            "ASF, blanks before a word that does not belong",
            Format::Asf,
            with_blanks(ASF, "x"),
            |_| true,
        ),
        Input {
            skeleton,
            ..Input::new(
                "AMC, blanks, then no number",
                Format::Amc,
                with_blanks(":FULLY-SPECIFIED\n:DEGREES\n1\nroot 0", "x"),
                |_| true,
            )
        },
        Input::new(
            "TRC, blanks, then no number",
            Format::Trc,
            with_blanks(&trc("1", "1"), "x"),
            |_| true,
        ),
    ]
}
