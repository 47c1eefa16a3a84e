//! Error numbers of WASI preview 1, and the system's errors as a guest knows them.

use innerloop_workspace::platform::Errno;

pub(super) const SUCCESS: i32 = 0;
pub(super) const ACCES: i32 = 2;
pub(super) const BADF: i32 = 8;
pub(super) const EXIST: i32 = 20;
pub(super) const FAULT: i32 = 21;
pub(super) const ILSEQ: i32 = 25;
pub(super) const INVAL: i32 = 28;
pub(super) const IO: i32 = 29;
pub(super) const ISDIR: i32 = 31;
pub(super) const LOOP: i32 = 32;
pub(super) const NAMETOOLONG: i32 = 37;
pub(super) const NOENT: i32 = 44;
pub(super) const NOMEM: i32 = 48;
pub(super) const NOTDIR: i32 = 54;
pub(super) const NOTSUP: i32 = 58;
pub(super) const PERM: i32 = 63;
pub(super) const SPIPE: i32 = 70;

/// The system's errors, each with the number that a guest knows. Numbers differ between systems and
/// WASI, so that none may be passed on as it is.
const SAME: &[(Errno, i32)] = &[
    (Errno::ACCESS, ACCES),
    (Errno::BADF, BADF),
    (Errno::BUSY, 10),
    (Errno::DQUOT, 19),
    (Errno::EXIST, EXIST),
    (Errno::FBIG, 22),
    (Errno::ILSEQ, ILSEQ),
    (Errno::INVAL, INVAL),
    (Errno::ISDIR, ISDIR),
    (Errno::LOOP, LOOP),
    (Errno::MLINK, 34),
    (Errno::NAMETOOLONG, NAMETOOLONG),
    (Errno::NOENT, NOENT),
    (Errno::NOMEM, NOMEM),
    (Errno::NOSPC, 51),
    (Errno::NOTDIR, NOTDIR),
    (Errno::NOTEMPTY, 55),
    (Errno::OPNOTSUPP, NOTSUP),
    (Errno::PERM, PERM),
    (Errno::ROFS, 69),
    (Errno::TXTBSY, 74),
    (Errno::XDEV, 75),
];

/// The number of a system's error for a guest; `IO` for those that WASI does not have.
pub(super) fn of(error: Errno) -> i32 {
    SAME.iter().find(|(own, _)| *own == error).map_or(IO, |(_, code)| *code)
}
