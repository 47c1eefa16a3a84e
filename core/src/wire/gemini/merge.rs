//! One JSON value put over another.

use crate::base::json::{Json, Object};
use alloc::vec::Vec;

/// What the arrays of two values become where both have one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrays {
    /// The second stands in place of the first.
    Replace,
    /// The second follows the first.
    Append,
}

/// `theirs` put over `ours`: objects field by field, arrays as asked, all else in its place.
pub(super) fn merged(ours: &Json, theirs: &Json, arrays: Arrays) -> Json {
    let object = |json: &Json| serde_json::from_str::<Object>(json.text()).ok();
    if let (Some(mut all), Some(more)) = (object(ours), object(theirs)) {
        for (name, theirs) in more.0 {
            let value = match all.field(&name) {
                Some(ours) => merged(ours, &theirs, arrays),
                None => theirs,
            };
            all.set(&name, value);
        }
        return all.to_json();
    }
    let array = |json: &Json| serde_json::from_str::<Vec<Json>>(json.text()).ok();
    match (array(ours), array(theirs)) {
        (Some(ours), Some(theirs)) if arrays == Arrays::Append => {
            let items: Vec<&str> = ours.iter().chain(&theirs).map(Json::text).collect();
            Json::parse(alloc::format!("[{}]", items.join(","))).unwrap_or_default()
        }
        _ => theirs.clone(),
    }
}
