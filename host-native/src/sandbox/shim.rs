//! The functions that guests import: wasmtime's WASI preview 1, and in front of each function that
//! changes something one of our own, which asks [`super::policy`] first. Those that work on paths
//! are here, those that work on open files in [`super::descriptors`].

use super::{
    descriptors, errno,
    memory::{read_u32, text},
    policy::{Denied, OpenBits},
    state::{MODULE, RunState, split},
};
use wasmtime::{Caller, Error, Linker, Result};
use wasmtime_wasi::{
    I32Exit,
    p1::{self, wasi_snapshot_preview1 as wasi},
};

/// Puts all imports of a guest into `linker`.
pub(super) fn link(linker: &mut Linker<RunState>) -> Result<()> {
    p1::add_to_linker_async(linker, |state| &mut state.wasi)?;
    linker.allow_shadowing(true);
    link_open(linker)?;
    descriptors::link(linker)?;
    link_folders(linker)?;
    link_links(linker)?;
    link_times(linker)?;
    // wasmtime turns exit codes from 126 on into a trap; here every code is the program's own.
    linker.func_wrap(MODULE, "proc_exit", |code: i32| -> Result<()> {
        Err(Error::new(I32Exit(code)))
    })?;
    linker.allow_shadowing(false);
    Ok(())
}

fn link_open(linker: &mut Linker<RunState>) -> Result<()> {
    type Args = (i32, i32, i32, i32, i32, i64, i64, i32, i32);
    linker.func_wrap_async(
        MODULE,
        "path_open",
        |mut caller: Caller<'_, RunState>, args: Args| {
            Box::new(async move {
                let (fd, lookup, path, len, open, rights, inheriting, flags, result) = args;
                let (mut memory, state) = split(&mut caller)?;
                let bits = OpenBits { lookup, open, rights };
                let allowed = text(&memory, path, len)
                    .map_err(Denied::from)
                    .and_then(|path| state.policy.on_open(fd, &path, bits));
                let node = match allowed {
                    Ok(node) => node,
                    Err(denied) => return denied.answer(),
                };
                let wasi = &mut state.wasi;
                let code = wasi::path_open(
                    wasi,
                    &mut memory,
                    fd,
                    lookup,
                    path,
                    len,
                    open,
                    rights,
                    inheriting,
                    flags,
                    result,
                )
                .await?;
                if code == errno::SUCCESS {
                    state.policy.opened(read_u32(&memory, result)?, node);
                }
                Ok(code)
            })
        },
    )?;
    Ok(())
}

fn link_folders(linker: &mut Linker<RunState>) -> Result<()> {
    type Args = (i32, i32, i32);
    linker.func_wrap_async(
        MODULE,
        "path_create_directory",
        |mut caller: Caller<'_, RunState>, (fd, path, len): Args| {
            Box::new(async move {
                let (mut memory, state) = split(&mut caller)?;
                let allowed = text(&memory, path, len)
                    .map_err(Denied::from)
                    .and_then(|path| state.policy.on_create_folder(fd, &path));
                if let Err(denied) = allowed {
                    return denied.answer();
                }
                wasi::path_create_directory(&mut state.wasi, &mut memory, fd, path, len).await
            })
        },
    )?;
    linker.func_wrap_async(
        MODULE,
        "path_remove_directory",
        |mut caller: Caller<'_, RunState>, (fd, path, len): Args| {
            Box::new(async move {
                let (mut memory, state) = split(&mut caller)?;
                let allowed = text(&memory, path, len)
                    .map_err(Denied::from)
                    .and_then(|path| state.policy.on_remove_folder(fd, &path));
                let real = match allowed {
                    Ok(real) => real,
                    Err(denied) => return denied.answer(),
                };
                let wasi = &mut state.wasi;
                let code = wasi::path_remove_directory(wasi, &mut memory, fd, path, len).await?;
                if code == errno::SUCCESS {
                    state.policy.removed(&real);
                }
                Ok(code)
            })
        },
    )?;
    linker.func_wrap_async(
        MODULE,
        "path_unlink_file",
        |mut caller: Caller<'_, RunState>, (fd, path, len): Args| {
            Box::new(async move {
                let (mut memory, state) = split(&mut caller)?;
                let allowed = text(&memory, path, len)
                    .map_err(Denied::from)
                    .and_then(|path| state.policy.on_remove_file(fd, &path));
                let real = match allowed {
                    Ok(real) => real,
                    Err(denied) => return denied.answer(),
                };
                let code =
                    wasi::path_unlink_file(&mut state.wasi, &mut memory, fd, path, len).await?;
                if code == errno::SUCCESS {
                    state.policy.removed(&real);
                }
                Ok(code)
            })
        },
    )?;
    Ok(())
}

fn link_links(linker: &mut Linker<RunState>) -> Result<()> {
    linker.func_wrap_async(
        MODULE,
        "path_rename",
        |mut caller: Caller<'_, RunState>, args: (i32, i32, i32, i32, i32, i32)| {
            Box::new(async move {
                let (fd, path, len, to_fd, to, to_len) = args;
                let (mut memory, state) = split(&mut caller)?;
                let allowed = text(&memory, path, len)
                    .and_then(|path| Ok((path, text(&memory, to, to_len)?)))
                    .map_err(Denied::from)
                    .and_then(|(path, to)| state.policy.on_rename((fd, &path), (to_fd, &to)));
                let (old, new) = match allowed {
                    Ok(both) => both,
                    Err(denied) => return denied.answer(),
                };
                let wasi = &mut state.wasi;
                let code =
                    wasi::path_rename(wasi, &mut memory, fd, path, len, to_fd, to, to_len).await?;
                if code == errno::SUCCESS {
                    state.policy.renamed(&old, &new);
                }
                Ok(code)
            })
        },
    )?;
    linker.func_wrap_async(
        MODULE,
        "path_symlink",
        |mut caller: Caller<'_, RunState>, args: (i32, i32, i32, i32, i32)| {
            Box::new(async move {
                let (target, target_len, fd, path, len) = args;
                let (mut memory, state) = split(&mut caller)?;
                let allowed = text(&memory, target, target_len)
                    .and_then(|target| Ok((target, text(&memory, path, len)?)))
                    .map_err(Denied::from)
                    .and_then(|(target, path)| state.policy.on_link(&target, fd, &path));
                if let Err(denied) = allowed {
                    return denied.answer();
                }
                let wasi = &mut state.wasi;
                wasi::path_symlink(wasi, &mut memory, target, target_len, fd, path, len).await
            })
        },
    )?;
    // A hard link would make a protected or an outer file writable under another name.
    linker.func_wrap(
        MODULE,
        "path_link",
        |_: i32, _: i32, _: i32, _: i32, _: i32, _: i32, _: i32| -> i32 { errno::PERM },
    )?;
    Ok(())
}

fn link_times(linker: &mut Linker<RunState>) -> Result<()> {
    linker.func_wrap_async(
        MODULE,
        "path_filestat_set_times",
        |mut caller: Caller<'_, RunState>, args: (i32, i32, i32, i32, i64, i64, i32)| {
            Box::new(async move {
                let (fd, lookup, path, len, accessed, modified, flags) = args;
                let (mut memory, state) = split(&mut caller)?;
                let allowed = text(&memory, path, len)
                    .map_err(Denied::from)
                    .and_then(|path| state.policy.on_touch(fd, lookup, &path));
                if let Err(denied) = allowed {
                    return denied.answer();
                }
                wasi::path_filestat_set_times(
                    &mut state.wasi,
                    &mut memory,
                    fd,
                    lookup,
                    path,
                    len,
                    accessed,
                    modified,
                    flags,
                )
                .await
            })
        },
    )?;
    Ok(())
}
