//! How the program that tests start is linked.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|is| is == value);
    // Tests start the program some ten thousand times, and at a random address the dynamic linker corrects a hundred
    // thousand addresses at each start. What is released keeps its random address.
    if is("PROFILE", "debug")
        && is("CARGO_CFG_TARGET_OS", "linux")
        && is("CARGO_CFG_TARGET_ENV", "gnu")
    {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
