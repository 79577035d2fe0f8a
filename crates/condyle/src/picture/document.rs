//! How pages begin and where their script goes: the same for all. They need nothing from elsewhere, and a
//! browser is told to fetch nothing and to run nothing but the page's own script, which it knows by its
//! hash: what a name in a file might smuggle in does not run.

use super::svg::Escaped;

/// The beginning of a page, up to and with `<main>`. Styles are one after the other; on paper they are
/// light.
pub(crate) fn begin(title: &str, styles: &[&str], script: Option<&str>) -> String {
    let scripts = script.map_or_else(String::new, |script| {
        format!(" script-src 'sha256-{}';", base64(&sha256(script.as_bytes())))
    });
    let style = styles.concat().replace("@media (prefers", "@media screen and (prefers");
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none';{scripts} \
         style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n<link rel=\"icon\" href=\"data:,\"/>\n\
         <title>{}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n",
        Escaped(title),
    )
}

/// The end of a page, with its script.
pub(crate) fn end(script: Option<&str>) -> String {
    let script = script.map_or_else(String::new, |script| format!("<script>{script}</script>\n"));
    format!("</main>\n{script}</body>\n</html>\n")
}

/// Bytes in letters and digits (RFC 4648, section 4).
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let bits =
            (0..3).fold(0, |bits, i| bits << 8 | u32::from(three.get(i).copied().unwrap_or(0)));
        for i in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * i) & 63) as usize];
            text.push(if i <= three.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

/// The first 32 bits of the fractional parts of the cube roots of the first 64 primes (FIPS 180-4, 4.2.2).
const K: [u32; 64] = [
    0x428a_2f98,
    0x7137_4491,
    0xb5c0_fbcf,
    0xe9b5_dba5,
    0x3956_c25b,
    0x59f1_11f1,
    0x923f_82a4,
    0xab1c_5ed5,
    0xd807_aa98,
    0x1283_5b01,
    0x2431_85be,
    0x550c_7dc3,
    0x72be_5d74,
    0x80de_b1fe,
    0x9bdc_06a7,
    0xc19b_f174,
    0xe49b_69c1,
    0xefbe_4786,
    0x0fc1_9dc6,
    0x240c_a1cc,
    0x2de9_2c6f,
    0x4a74_84aa,
    0x5cb0_a9dc,
    0x76f9_88da,
    0x983e_5152,
    0xa831_c66d,
    0xb003_27c8,
    0xbf59_7fc7,
    0xc6e0_0bf3,
    0xd5a7_9147,
    0x06ca_6351,
    0x1429_2967,
    0x27b7_0a85,
    0x2e1b_2138,
    0x4d2c_6dfc,
    0x5338_0d13,
    0x650a_7354,
    0x766a_0abb,
    0x81c2_c92e,
    0x9272_2c85,
    0xa2bf_e8a1,
    0xa81a_664b,
    0xc24b_8b70,
    0xc76c_51a3,
    0xd192_e819,
    0xd699_0624,
    0xf40e_3585,
    0x106a_a070,
    0x19a4_c116,
    0x1e37_6c08,
    0x2748_774c,
    0x34b0_bcb5,
    0x391c_0cb3,
    0x4ed8_aa4a,
    0x5b9c_ca4f,
    0x682e_6ff3,
    0x748f_82ee,
    0x78a5_636f,
    0x84c8_7814,
    0x8cc7_0208,
    0x90be_fffa,
    0xa450_6ceb,
    0xbef9_a3f7,
    0xc671_78f2,
];

/// The SHA-256 of some bytes (FIPS 180-4, 6.2).
fn sha256(bytes: &[u8]) -> [u8; 32] {
    let mut state: [u32; 8] = [
        0x6a09_e667,
        0xbb67_ae85,
        0x3c6e_f372,
        0xa54f_f53a,
        0x510e_527f,
        0x9b05_688c,
        0x1f83_d9ab,
        0x5be0_cd19,
    ];
    let mut padded = bytes.to_vec();
    padded.push(0x80);
    padded.resize((padded.len() + 8).next_multiple_of(64) - 8, 0);
    padded.extend((8 * bytes.len() as u64).to_be_bytes());
    for block in padded.chunks_exact(64) {
        let mut w = [0_u32; 64];
        for (w, four) in w.iter_mut().zip(block.chunks_exact(4)) {
            *w = four.iter().fold(0, |word, byte| word << 8 | u32::from(*byte));
        }
        for t in 16..64 {
            let s0 = w[t - 15].rotate_right(7) ^ w[t - 15].rotate_right(18) ^ (w[t - 15] >> 3);
            let s1 = w[t - 2].rotate_right(17) ^ w[t - 2].rotate_right(19) ^ (w[t - 2] >> 10);
            w[t] = w[t - 16].wrapping_add(s0).wrapping_add(w[t - 7]).wrapping_add(s1);
        }
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = state;
        for (k, w) in K.iter().zip(w) {
            let s1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
            let choice = (e & f) ^ (!e & g);
            let first = h.wrapping_add(s1).wrapping_add(choice).wrapping_add(*k).wrapping_add(w);
            let s0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
            let majority = (a & b) ^ (a & c) ^ (b & c);
            let second = s0.wrapping_add(majority);
            (h, g, f, e) = (g, f, e, d.wrapping_add(first));
            (d, c, b, a) = (c, b, a, first.wrapping_add(second));
        }
        for (sum, own) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
            *sum = sum.wrapping_add(own);
        }
    }
    let mut hash = [0; 32];
    for (four, word) in hash.chunks_exact_mut(4).zip(state) {
        four.copy_from_slice(&word.to_be_bytes());
    }
    hash
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// What every page keeps to: it runs its own script only, which its policy names by the hash.
    #[track_caller]
    pub(crate) fn check_policy(page: &str, scripts: usize) {
        let (_, rest) =
            page.split_once("http-equiv=\"Content-Security-Policy\" content=\"").unwrap();
        let (policy, rest) = rest.split_once('"').unwrap();
        let (head, body) = rest.split_once("</head>").unwrap();
        assert!(policy.starts_with("default-src 'none';"), "{policy}");
        assert!(!head.contains("<script"), "{head}");
        assert_eq!(body.matches("<script").count(), scripts);
        assert_eq!(policy.matches("script-src").count(), scripts, "{policy}");
        for (directive, text) in policy.split(';').zip(policy.split(';').map(str::trim)) {
            let unsafe_style = text == "style-src 'unsafe-inline'";
            assert!(unsafe_style || !directive.contains("unsafe"), "{policy}");
        }
        for script in body.split("<script>").skip(1) {
            let (script, _) = script.split_once("</script>").unwrap();
            let hash = base64(&sha256(script.as_bytes()));
            assert!(policy.contains(&format!("script-src 'sha256-{hash}'")), "{policy}");
        }
        // An attribute that is a script is none of them.
        for tag in body.split('<').skip(1).filter(|tag| !tag.starts_with("script")) {
            let inside = tag.split('>').next().unwrap_or_default();
            assert!(!inside.contains(" on") || !inside.contains("=\"javascript"), "<{inside}");
        }
    }

    /// The examples of FIPS 180-4 and of the test vectors that go with it.
    #[test]
    fn hashes_are_those_of_the_standard() {
        let hex =
            |bytes: &[u8]| -> String { sha256(bytes).iter().map(|b| format!("{b:02x}")).collect() };
        for (bytes, hash) in [
            (&b""[..], "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            (b"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
            ),
            (
                &[b'a'; 1_000_000],
                "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
            ),
        ] {
            assert_eq!(hex(bytes), hash);
        }
        for (text, coded) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(text.as_bytes()), coded);
        }
    }

    #[test]
    fn a_page_runs_its_own_script_only() {
        let script = "\nalert(1);\n";
        let page = begin("A < B", &["p { color: red }\n"], Some(script)) + &end(Some(script));
        check_policy(&page, 1);
        let page = begin("none", &[], None) + &end(None);
        check_policy(&page, 0);
    }
}
