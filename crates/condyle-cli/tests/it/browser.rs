//! Reports in a real browser: nothing overlaps, is cut off or complains.
//!
//! Needs chromium on the path. Without it the test says that it was skipped, except where the environment
//! has `CI=true`: there it has to be.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Folder;

fn chromium() -> Option<&'static str> {
    let runs = |name: &&str| {
        Command::new(name).arg("--version").output().is_ok_and(|o| o.status.success())
    };
    ["chromium", "chromium-browser", "google-chrome"].into_iter().find(|name| runs(name))
}

/// What is wrong with a page in windows of two widths.
fn look(browser: &str, folder: &Folder, page: &str) {
    let text = folder.read(page);
    assert_eq!(text.matches("</body>").count(), 1);
    // The page itself lets no script run but its own; without its policy it can be looked into.
    let script = format!("<script>{}</script></body>", include_str!("browser.js"));
    let open = text.replace("http-equiv=\"Content-Security-Policy\"", "name=\"policy\"");
    assert_ne!(open, text);
    folder.write("looked-at.html", &open.replace("</body>", &script));
    let place = folder.0.join("looked-at.html").canonicalize().unwrap();
    let own = folder.0.join(page).canonicalize().unwrap();
    let got = Command::new(browser)
        .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"])
        .arg("--dump-dom")
        .arg(format!("--user-data-dir={}", folder.0.join("profile").display()))
        .arg(format!("file://{}", own.display()))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&got.stderr);
    assert!(!said.contains("CONSOLE"), "{page} under its own policy: {said}");
    for width in [1280, 800] {
        let got = Command::new(browser)
            .args([
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--enable-logging=stderr",
                "--dump-dom",
            ])
            .arg(format!("--user-data-dir={}", folder.0.join("profile").display()))
            .arg(format!("--window-size={width},1000"))
            .arg(format!("file://{}", place.display()))
            .output()
            .unwrap();
        let seen = String::from_utf8_lossy(&got.stdout);
        let said = String::from_utf8_lossy(&got.stderr);
        assert!(!said.contains("CONSOLE"), "{page} at {width}: {said}");
        assert!(
            seen.contains(&format!("texts at {width}\n")) && seen.contains("END"),
            "{page}: {seen}\n{said}"
        );
        let wrong: Vec<&str> = seen.lines().filter(|l| l.starts_with("WRONG")).collect();
        assert!(wrong.is_empty(), "{page} at {width}: {wrong:#?}");
    }
}

#[test]
fn reports_look_right_in_a_browser() {
    let Some(browser) = chromium() else {
        assert!(std::env::var("CI").as_deref() != Ok("true"), "chromium is not installed");
        println!("skipped: there is no chromium");
        return;
    };
    let folder = Folder::new("browser");
    assert_eq!(folder.condyle("demo -o demo").status.code(), Some(0));
    look(browser, &folder, "demo/report.html");
    let root = match std::env::var_os("CONDYLE_SHARED") {
        Some(root) => PathBuf::from(root),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
    };
    for (name, files) in [("02_05", "bvh/02_05.bvh"), ("paper", "asf-amc/02.asf asf-amc/02_01.amc")]
    {
        let mut copied = Vec::new();
        for file in files.split(' ') {
            let Ok(bytes) = fs::read(root.join("data").join(file)) else { continue };
            let own = file.rsplit('/').next().unwrap();
            fs::write(folder.0.join(own), bytes).unwrap();
            copied.push(own);
        }
        if copied.len() < files.split(' ').count() {
            println!("skipped: no real clips");
            continue;
        }
        let method = if name == "paper" { "paper" } else { "robust" };
        let args = format!(
            "estimate {} -o {name}.json --method {method} --report {name}.html",
            copied.join(" ")
        );
        assert_eq!(folder.condyle(&args).status.code(), Some(0));
        look(browser, &folder, &format!("{name}.html"));
    }
}
