//! Error numbers of WASI preview 1, as far as they are used here.

pub(super) const SUCCESS: i32 = 0;
pub(super) const BADF: i32 = 8;
pub(super) const FAULT: i32 = 21;
pub(super) const ILSEQ: i32 = 25;
pub(super) const LOOP: i32 = 32;
pub(super) const NOENT: i32 = 44;
pub(super) const NOMEM: i32 = 48;
pub(super) const PERM: i32 = 63;
