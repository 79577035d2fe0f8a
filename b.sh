cargo build --release -p condyle --example zz_read --config 'profile.release.package.condyle.codegen-units=16' 2>&1 | grep -E "^(error|warning: unused)|-->" -A5 | head -40
