//! Files of motion that are not read yet: which they are, and what makes a readable file of them.

/// A format that is known and not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Foreign {
    /// Autodesk FBX, binary or text.
    Fbx,
    /// glTF 2.0: JSON, or binary (GLB).
    Gltf,
    /// C3D: markers and analogue channels.
    C3d,
}

impl Foreign {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fbx => "FBX",
            Self::Gltf => "glTF",
            Self::C3d => "C3D",
        }
    }

    /// Which programs make a file of it that can be read.
    #[must_use]
    pub const fn help(self) -> &'static str {
        match self {
            Self::Fbx => {
                "export BVH from it: in Blender, File > Import > FBX, then File > Export > Motion \
                 Capture (.bvh); MotionBuilder (File > Motion File Export) and Rokoko Studio can, too"
            }
            Self::Gltf => {
                "export BVH from it: in Blender, File > Import > glTF 2.0, then File > Export > \
                 Motion Capture (.bvh)"
            }
            Self::C3d => {
                "export TRC from it: Mokka, Vicon Nexus and Motion Analysis Cortex can, and so can \
                 OpenSim's C3DFileAdapter with TRCFileAdapter"
            }
        }
    }

    /// Tells such a file by its content. No format that is read begins like one.
    #[must_use]
    pub fn detect(bytes: &[u8]) -> Option<Self> {
        let text = &bytes[..bytes.len().min(1 << 16)];
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text).trim_ascii_start();
        let has = |word: &[u8]| text.windows(word.len()).any(|part| part == word);
        if bytes.starts_with(b"Kaydara FBX Binary") || text.starts_with(b"; FBX ") {
            Some(Self::Fbx)
        } else if bytes.starts_with(b"glTF") || (text.starts_with(b"{") && has(b"\"asset\"")) {
            Some(Self::Gltf)
        } else if bytes.len() >= 512 && bytes[1] == 0x50 && bytes[..512].contains(&0) {
            // After the place of the parameters stands the key of the format; text has no zeros.
            Some(Self::C3d)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::{Position, ReadErrorKind, ReadOptions, read};

    #[test]
    fn files_that_are_not_read_are_named_with_who_exports_what() {
        let mut c3d = vec![0; 1024];
        c3d[..2].copy_from_slice(&[2, 0x50]);
        for (bytes, format, program) in [
            (&b"Kaydara FBX Binary  \x00\x1a\x00"[..], Foreign::Fbx, "Blender"),
            (b"; FBX 7.4.0 project file\n", Foreign::Fbx, "MotionBuilder"),
            (b"glTF\x02\x00\x00\x00", Foreign::Gltf, "Blender"),
            (b"{\n \"asset\": { \"version\": \"2.0\" } }", Foreign::Gltf, "Blender"),
            (&c3d, Foreign::C3d, "Mokka"),
        ] {
            let error = read(bytes, None, &ReadOptions::default()).unwrap_err();
            assert_eq!(*error.kind(), ReadErrorKind::Foreign { format });
            assert_eq!(error.position(), Some(Position::Byte(0)));
            assert!(error.to_string().contains("not read yet"), "{error}");
            assert!(error.help().contains(program), "{error}");
        }
        // What begins with a P and is short, or a rig, is none of them.
        assert_eq!(Foreign::detect(b"\x02Path"), None);
        let trc = b"\nPathFileType\t4\t(X/Y/Z)\tx.trc\n".repeat(50);
        assert_eq!(Foreign::detect(&trc), None);
        assert_eq!(Foreign::detect(b"{ \"condyle\": 1 }"), None);
    }
}
