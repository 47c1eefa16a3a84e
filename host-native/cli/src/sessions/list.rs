//! `innerloop sessions list`: one line per session, cut to the terminal's width, or one line of
//! JSON. Titles and folders come from sessions' files, so that every line is escaped.

use super::{
    store::SessionStore,
    stored_session::{DamagedSession, ListedSession, StoredSession},
};
use crate::{
    console::{say_escaped, warn},
    exit::CliError,
    platform,
    style::brief,
    wrap::{columns_in, columns_of},
};
use serde_json::json;
use std::{
    fs,
    io::{IsTerminal as _, stdout},
    path::Path,
    time::{SystemTime, UNIX_EPOCH},
};

/// The columns of a line if the terminal does not report its width.
const USUAL: usize = 80;

/// The least columns of a title and of a folder, and the most of a title.
const LEAST: usize = 12;
const MOST_TITLE: usize = 60;

/// The text in the column of changes.
const CHANGES: &str = "changes";

pub(super) fn list(folder: Option<&Path>, as_json: bool) -> Result<(), CliError> {
    let missing = |path: &Path, why| CliError::usage(format!("{}: {why}", path.display()));
    let real = |path: &Path| fs::canonicalize(path).map_err(|why| missing(path, why));
    let folder = folder.map(real).transpose()?;
    let store = SessionStore::open()?;
    let mut all = store.list()?;
    all.retain(|it| match (&folder, it) {
        (None, _) => true,
        (Some(folder), ListedSession::Kept(kept)) => *folder == kept.about.workspace,
        (Some(_), ListedSession::Damaged(_)) => false,
    });
    if as_json {
        all.iter().for_each(|it| say_escaped(&as_line(it)));
        return Ok(());
    }
    if all.is_empty() {
        warn("no session is kept yet; innerloop run keeps one");
    }
    let rows: Vec<SessionRow> = all.iter().filter_map(SessionRow::of).collect();
    laid_out(&rows, width()).iter().for_each(|line| say_escaped(line));
    for it in &all {
        if let ListedSession::Damaged(damaged) = it {
            warn(&damaged.failure().message);
        }
    }
    Ok(())
}

fn as_line(listed: &ListedSession) -> String {
    let millis = |time: SystemTime| {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    };
    match listed {
        ListedSession::Kept(kept) => {
            let StoredSession { about, used, .. } = &**kept;
            json!({
                "id": about.id, "title": about.title, "workspace": about.workspace,
                "provider": about.provider, "model": about.model, "opened": about.opened,
                "used": millis(*used), "bytes": kept.size(), "fork_of": about.fork_of,
                "unapplied": kept.has_changes(),
            })
        }
        ListedSession::Damaged(DamagedSession { id, used, why, .. }) => {
            json!({"id": id, "used": millis(*used), "damaged": why})
        }
    }
    .to_string()
}

/// A session in a list.
struct SessionRow {
    id: String,
    used: String,
    has_changes: bool,
    title: String,
    folder: String,
}

impl SessionRow {
    fn of(listed: &ListedSession) -> Option<Self> {
        let ListedSession::Kept(kept) = listed else { return None };
        let about = &kept.about;
        let title = if about.title.is_empty() { "(nothing was said)" } else { &about.title };
        Some(Self {
            id: kept.short().to_owned(),
            used: age(kept.used),
            has_changes: kept.has_changes(),
            title: brief(title, usize::MAX),
            folder: brief(&about.workspace.display().to_string(), usize::MAX),
        })
    }
}

/// Returns the columns of standard output's terminal; none elsewhere, where nothing is cut.
fn width() -> Option<usize> {
    if !stdout().is_terminal() {
        return None;
    }
    let told = platform::columns_of_output().filter(|told| *told > 0);
    Some(told.map_or(USUAL, usize::from))
}

/// Returns the lines of the sessions, in columns; on a terminal none is wider than `width`.
fn laid_out(rows: &[SessionRow], width: Option<usize>) -> Vec<String> {
    let are_changed = rows.iter().any(|row| row.has_changes);
    let widest = |text: fn(&SessionRow) -> &str| {
        rows.iter().map(|row| columns_in(text(row))).max().unwrap_or_default()
    };
    let (used, title) = (widest(|row| &row.used), widest(|row| &row.title));
    let heads = rows.iter().map(|row| {
        let mut head = format!("{}  {}  ", row.id, left(&row.used, used));
        if are_changed {
            let changes = if row.has_changes { CHANGES } else { "" };
            head.push_str(&format!("{changes:7}  "));
        }
        head
    });
    rows.iter()
        .zip(heads)
        .map(|(row, head)| {
            let Some(width) = width else {
                return format!("{head}{}  {}", right(&row.title, title), row.folder);
            };
            // Folders get half of the room at most, titles the rest up to their own bound; what
            // short titles do not use goes back to the folder.
            let room = width.saturating_sub(columns_in(&head) + 2);
            let folder = widest(|row| &row.folder).min((room / 2).max(LEAST));
            let most = room.saturating_sub(folder).clamp(LEAST, MOST_TITLE);
            let title = title.min(most);
            let folder = room.saturating_sub(title);
            let line = format!("{head}{}  {}", right(&row.title, title), end(&row.folder, folder));
            cut(line.trim_end(), width)
        })
        .collect()
}

/// Pads the text on the left to a column's width.
fn left(text: &str, columns: usize) -> String {
    " ".repeat(columns.saturating_sub(columns_in(text))) + text
}

/// Cuts the text to a column's width, or pads it on the right.
fn right(text: &str, columns: usize) -> String {
    let mut text = cut(text, columns);
    text.push_str(&" ".repeat(columns.saturating_sub(columns_in(&text))));
    text
}

/// Cuts the text to that many columns, with `…` in place of what is left out.
fn cut(text: &str, columns: usize) -> String {
    if columns_in(text) <= columns {
        return text.to_owned();
    }
    let mut used = 1;
    let fits = |c: &char| {
        used += columns_of(*c);
        used <= columns
    };
    text.chars().take_while(fits).chain(['…']).collect()
}

/// Cuts the text at its beginning, since folders differ at their ends.
fn end(text: &str, columns: usize) -> String {
    let back: String = text.chars().rev().collect();
    cut(&back, columns).chars().rev().collect()
}

/// Returns how long ago that was, in the largest unit.
fn age(time: SystemTime) -> String {
    let seconds = time.elapsed().unwrap_or_default().as_secs();
    match seconds {
        0..60 => "now".to_owned(),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..86_400 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(title: &str, folder: &str, has_changes: bool) -> SessionRow {
        let (id, used) = ("01234567".to_owned(), "3 min".to_owned());
        SessionRow { id, used, has_changes, title: title.to_owned(), folder: folder.to_owned() }
    }

    #[test]
    fn a_line_is_as_wide_as_the_terminal_and_its_columns_are_aligned() {
        let long = "Find out why the tests of the parser fail on Windows and fix them all";
        let rows = [
            row(long, "/home/ann/projects/a-rather-long-name/of-a-folder", false),
            row("日本語の題名がここにあります、長い長い長い長い長い長い長い", "/tmp/x", true),
            row("short", "/srv/p", false),
        ];
        for width in [200, 100, 80, 60, 40, 20] {
            for line in laid_out(&rows, Some(width)) {
                assert!(columns_in(&line) <= width, "{width}: {line}");
            }
        }
        let lines = laid_out(&rows, Some(80));
        let at = |line: &str, part: &str| {
            let (before, _) = line.split_once(part).unwrap_or_else(|| panic!("{line}"));
            columns_in(before)
        };
        assert_eq!(at(&lines[1], "日"), at(&lines[2], "short"), "{lines:#?}");
        assert_eq!(at(&lines[1], "/tmp/x"), at(&lines[2], "/srv/p"), "{lines:#?}");
        assert!(lines[0].contains('…') && lines[0].ends_with("of-a-folder"), "{lines:#?}");
        assert!(lines[1].contains("  changes  "), "{lines:#?}");
        let piped = laid_out(&rows, None);
        assert!(piped[0].contains(long) && piped[0].ends_with(&rows[0].folder), "{piped:#?}");
        assert!(!piped.concat().contains('…'));
        let plain = laid_out(&rows[2..], None);
        assert_eq!(plain, ["01234567  3 min  short  /srv/p"]);
    }
}
