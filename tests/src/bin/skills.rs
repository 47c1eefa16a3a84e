//! Reads files of skills for suites that judge them. One line of JSON in: `{path, text}`. One line
//! out: `{faults, name, description}`, what the standard finds wrong with the file, and what we
//! read of it all the same, `null` if it is no skill to us.

use innerloop_core::skill::{read_skill, skill_faults};
use serde_json::{Value, json};
use std::error::Error;
use std::io::{self, BufRead, Write};

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let case: Value = serde_json::from_str(&line?)?;
        let path = case["path"].as_str().ok_or("no path")?;
        let text = case["text"].as_str().ok_or("no text")?;
        let skill = read_skill(path, text).ok();
        let (name, description) = skill.map(|skill| (skill.name, skill.description)).unzip();
        let faults = skill_faults(path, text);
        let answer = json!({"faults": faults, "name": name, "description": description});
        writeln!(out, "{answer}")?;
    }
    Ok(out.flush()?)
}
