// File descriptors of a program over the tree, in the form that the WASI shim wants. The shim's own
// files are not used: they have no links and no times, and copy a whole file for each piece that is
// appended.

import { Fd, wasi } from "@bjorn3/browser_wasi_shim";
import {
  Folder,
  type Found,
  Link,
  type Node,
  now,
  PlainFile,
  type Spot,
  type Tree,
} from "./tree.js";

/** The watch over a program's changes of files. */
export interface Watch {
  /** True if files may be changed at all. */
  readonly mayWrite: boolean;
  /** Counts bytes that are written to files; throws if they are too many. */
  wrote(bytes: number): void;
  /** Tells that a change is complete. */
  changed(): void;
}

const NOTHING = new Uint8Array();
const FOLLOWS = 1;
/** The bytes that a new entry counts, so that the limit also holds for empty files. */
const ENTRY_BYTES = 4096;
/** The longest file. */
const LONGEST = 2 ** 31 - 1;

/** The standard input of a program. */
export class Input extends Fd {
  #at = 0;

  constructor(readonly bytes: Uint8Array) {
    super();
  }

  override fd_read(size: number) {
    const data = this.bytes.subarray(this.#at, this.#at + size);
    this.#at += data.length;
    return { ret: 0, data };
  }

  override fd_fdstat_get() {
    return { ret: 0, fdstat: statusOf(wasi.FILETYPE_UNKNOWN, wasi.RIGHTS_FD_READ) };
  }

  override fd_filestat_get() {
    return { ret: 0, filestat: new Filestat(0n, wasi.FILETYPE_UNKNOWN, 0n) };
  }
}

/** An output of a program. */
export class Output extends Fd {
  constructor(readonly take: (bytes: Uint8Array) => void) {
    super();
  }

  override fd_write(data: Uint8Array) {
    this.take(data);
    return { ret: 0, nwritten: data.length };
  }

  override fd_fdstat_get() {
    return { ret: 0, fdstat: statusOf(wasi.FILETYPE_UNKNOWN, wasi.RIGHTS_FD_WRITE) };
  }

  override fd_filestat_get() {
    return { ret: 0, filestat: new Filestat(0n, wasi.FILETYPE_UNKNOWN, 0n) };
  }
}

/** An open file. */
class OpenFile extends Fd {
  #at = 0;
  #isChanged = false;

  constructor(
    readonly tree: Tree,
    readonly watch: Watch,
    readonly file: PlainFile,
    readonly rights: bigint,
    private flags: number,
  ) {
    super();
  }

  /** Truncates the file to nothing. */
  empty(): void {
    this.file.resize(0);
    this.tree.touch(this.file);
    this.#isChanged = true;
  }

  override fd_close(): number {
    if (this.#isChanged) this.watch.changed();
    return 0;
  }

  override fd_fdstat_get() {
    const fdstat = statusOf(wasi.FILETYPE_REGULAR_FILE, this.rights);
    fdstat.fs_flags = this.flags;
    return { ret: 0, fdstat };
  }

  override fd_fdstat_set_flags(flags: number): number {
    this.flags = flags;
    return 0;
  }

  override fd_filestat_get() {
    return { ret: 0, filestat: statOf(this.file) };
  }

  override fd_filestat_set_size(size: bigint): number {
    if (size > LONGEST) return wasi.ERRNO_FBIG;
    return this.#change(Math.max(0, Number(size) - this.file.size), () =>
      this.file.resize(Number(size)),
    );
  }

  override fd_filestat_set_times(_atim: bigint, mtim: bigint, flags: number): number {
    return setTime(this.watch, this.file, mtim, flags);
  }

  override fd_allocate(offset: bigint, len: bigint): number {
    const least = offset + len;
    return least > this.file.size ? this.fd_filestat_set_size(least) : 0;
  }

  override fd_read(size: number) {
    const result = this.fd_pread(size, BigInt(this.#at));
    this.#at += result.data.length;
    return result;
  }

  override fd_pread(size: number, offset: bigint) {
    const at = Math.min(Number(offset), this.file.size);
    return { ret: 0, data: this.file.content.slice(at, at + size) };
  }

  override fd_write(data: Uint8Array) {
    if (this.flags & wasi.FDFLAGS_APPEND) this.#at = this.file.size;
    const result = this.fd_pwrite(data, BigInt(this.#at));
    this.#at += result.nwritten;
    return result;
  }

  override fd_pwrite(data: Uint8Array, offset: bigint) {
    const end = Number(offset) + data.length;
    if (end > LONGEST) return { ret: wasi.ERRNO_FBIG, nwritten: 0 };
    const more = Math.max(data.length, end - this.file.size);
    const ret = this.#change(more, () => this.file.write(data, Number(offset)));
    return { ret, nwritten: ret === 0 ? data.length : 0 };
  }

  override fd_seek(offset: bigint, whence: number) {
    // In the order of preview 1: from the beginning, from here, from the end.
    const from = [0, this.#at, this.file.size][whence] ?? Number.NaN;
    const at = from + Number(offset);
    if (!(at >= 0)) return { ret: wasi.ERRNO_INVAL, offset: 0n };
    this.#at = at;
    return { ret: 0, offset: BigInt(at) };
  }

  override fd_tell() {
    return { ret: 0, offset: BigInt(this.#at) };
  }

  #change(more: number, change: () => void): number {
    if (!this.watch.mayWrite) return wasi.ERRNO_PERM;
    if ((this.rights & BigInt(wasi.RIGHTS_FD_WRITE)) === 0n) return wasi.ERRNO_BADF;
    this.watch.wrote(more);
    change();
    this.tree.touch(this.file);
    this.#isChanged = true;
    return 0;
  }
}

/** An open folder. */
export class OpenFolder extends Fd {
  #listed: [string, Folder | Node][] = [];

  constructor(
    readonly tree: Tree,
    readonly watch: Watch,
    readonly folder: Folder,
    /** The name under which the program finds it at its start, if it is a preopened one. */
    readonly preopened?: string,
  ) {
    super();
  }

  override fd_fdstat_get() {
    return { ret: 0, fdstat: statusOf(wasi.FILETYPE_DIRECTORY, -1) };
  }

  override fd_filestat_get() {
    return { ret: 0, filestat: statOf(this.folder) };
  }

  override fd_filestat_set_times(_atim: bigint, mtim: bigint, flags: number): number {
    return setTime(this.watch, this.folder, mtim, flags);
  }

  override fd_prestat_get() {
    if (this.preopened === undefined) return { ret: wasi.ERRNO_BADF, prestat: null };
    return { ret: 0, prestat: wasi.Prestat.dir(this.preopened) };
  }

  override fd_readdir_single(cookie: bigint) {
    // Listed once: a program that removes entries while it lists must not skip others.
    if (cookie === 0n) {
      const shown = [...this.folder.entries].filter(([, node]) => node !== this.tree.hidden);
      this.#listed = [[".", this.folder], ["..", this.folder.parent ?? this.folder], ...shown];
    }
    const next = this.#listed[Number(cookie)];
    if (next === undefined) return { ret: 0, dirent: null };
    const [name, { number, type }] = next;
    return { ret: 0, dirent: new wasi.Dirent(cookie + 1n, number, name, type) };
  }

  override path_open(
    how: number,
    path: string,
    asked: number,
    rights: bigint,
    _inherited: bigint,
    flags: number,
  ) {
    const refused = (ret: number) => ({ ret, fd_obj: null });
    const opened = (fd_obj: Fd) => ({ ret: 0, fd_obj });
    const wants = (flag: number): boolean => (asked & flag) !== 0;
    const writes = (rights & BigInt(wasi.RIGHTS_FD_WRITE)) !== 0n;
    const changes = writes || wants(wasi.OFLAGS_CREAT) || wants(wasi.OFLAGS_TRUNC);
    if (changes && !this.watch.mayWrite) return refused(wasi.ERRNO_PERM);
    const spot = this.tree.find(this.folder, path, (how & FOLLOWS) !== 0);
    if (typeof spot === "number") return refused(spot);
    let { node } = spot;
    if (node !== undefined && wants(wasi.OFLAGS_CREAT) && wants(wasi.OFLAGS_EXCL)) {
      return refused(wasi.ERRNO_EXIST);
    }
    if (node instanceof Link) return refused(wasi.ERRNO_LOOP);
    if (node instanceof Folder) {
      if (writes) return refused(wasi.ERRNO_ISDIR);
      return opened(new OpenFolder(this.tree, this.watch, node));
    }
    if (wants(wasi.OFLAGS_DIRECTORY)) {
      return refused(node === undefined ? wasi.ERRNO_NOENT : wasi.ERRNO_NOTDIR);
    }
    if (node === undefined) {
      if (!wants(wasi.OFLAGS_CREAT)) return refused(wasi.ERRNO_NOENT);
      if (path.endsWith("/")) return refused(wasi.ERRNO_ISDIR);
      node = new PlainFile(NOTHING);
      const ret = this.#add(spot, node);
      if (ret !== 0) return refused(ret);
    }
    const file = new OpenFile(this.tree, this.watch, node, rights, flags);
    if (wants(wasi.OFLAGS_TRUNC) && node.size > 0) file.empty();
    return opened(file);
  }

  override path_create_directory(path: string): number {
    const spot = this.tree.find(this.folder, path, true);
    if (typeof spot === "number") return spot;
    if (spot.node !== undefined) return wasi.ERRNO_EXIST;
    return this.#add(spot, new Folder());
  }

  override path_filestat_get(how: number, path: string) {
    const node = this.#at(path, how);
    if (typeof node === "number") return { ret: node, filestat: null };
    return { ret: 0, filestat: statOf(node) };
  }

  override path_filestat_set_times(
    how: number,
    path: string,
    _atim: bigint,
    mtim: bigint,
    flags: number,
  ): number {
    const node = this.#at(path, how);
    return typeof node === "number" ? node : setTime(this.watch, node, mtim, flags);
  }

  override path_readlink(path: string) {
    const node = this.#at(path, 0);
    if (typeof node === "number") return { ret: node, data: null };
    if (!(node instanceof Link)) return { ret: wasi.ERRNO_INVAL, data: null };
    return { ret: 0, data: node.target };
  }

  override path_remove_directory(path: string): number {
    const spot = this.#named(path);
    if (typeof spot === "number") return spot;
    if (!(spot.node instanceof Folder)) return wasi.ERRNO_NOTDIR;
    if (spot.node.entries.size > 0) return wasi.ERRNO_NOTEMPTY;
    return this.#remove(spot);
  }

  override path_unlink_file(path: string): number {
    const spot = this.#named(path);
    if (typeof spot === "number") return spot;
    return spot.node instanceof Folder ? wasi.ERRNO_ISDIR : this.#remove(spot);
  }

  /**
   * Makes a symbolic link, which the shim does not support; `EPERM` if it leads out of the tree.
   */
  link(target: string, path: string): number {
    const spot = this.tree.find(this.folder, path, false);
    if (typeof spot === "number") return spot;
    if (spot.node !== undefined) return wasi.ERRNO_EXIST;
    if (!this.tree.holds(spot.folder, target)) return wasi.ERRNO_PERM;
    return this.#add(spot, new Link(target));
  }

  /** Moves an entry to another path. The shim's own function loses what was at the target. */
  rename(path: string, folder: OpenFolder, other: string): number {
    const from = this.#named(path);
    if (typeof from === "number") return from;
    const to = folder.tree.find(folder.folder, other, false);
    if (typeof to === "number") return to;
    if (!this.watch.mayWrite) return wasi.ERRNO_PERM;
    if (to.name === "") return wasi.ERRNO_BUSY;
    if (!isName(to.name)) return wasi.ERRNO_INVAL;
    if (from.node === to.node) return 0;
    const ret =
      whyNot(from, to) || (this.#isFixed(from) || this.#isFixed(to) ? wasi.ERRNO_BUSY : 0);
    if (ret !== 0) return ret;
    this.tree.move(from, to);
    this.watch.changed();
    return 0;
  }

  // The node at a path.
  #at(path: string, how: number): Found<Node> {
    const spot = this.tree.find(this.folder, path, (how & FOLLOWS) !== 0);
    return typeof spot === "number" ? spot : (spot.node ?? wasi.ERRNO_NOENT);
  }

  // The place of an existing name, for changes; `.` and the like are refused, since they have none.
  #named(path: string): Found<Spot> {
    const spot = this.tree.find(this.folder, path.replace(/\/+$/, ""), false);
    if (typeof spot === "number") return spot;
    if (spot.name === "") return wasi.ERRNO_INVAL;
    return spot.node === undefined ? wasi.ERRNO_NOENT : spot;
  }

  #add(spot: Spot, node: Node): number {
    if (!this.watch.mayWrite) return wasi.ERRNO_PERM;
    if (!isName(spot.name)) return wasi.ERRNO_INVAL;
    this.watch.wrote(ENTRY_BYTES);
    this.tree.add(spot, node);
    this.watch.changed();
    return 0;
  }

  #remove(spot: Spot): number {
    if (!this.watch.mayWrite) return wasi.ERRNO_PERM;
    if (this.#isFixed(spot)) return wasi.ERRNO_BUSY;
    this.tree.remove(spot);
    this.watch.changed();
    return 0;
  }

  #isFixed({ node }: Spot): boolean {
    return node !== undefined && node === this.tree.hidden;
  }
}

// True if the workspace can hold a file of this name. In its paths `\` means `/`: a name with one
// would lead elsewhere, perhaps out of the folder that the program was given.
function isName(name: string): boolean {
  return !/[\\\0]/.test(name);
}

// The error for moving one entry to the place of another; 0 if it can be moved.
function whyNot(from: Spot, to: Spot): number {
  for (let at: Folder | undefined = to.folder; at !== undefined; at = at.parent) {
    if (at === from.node) return wasi.ERRNO_INVAL;
  }
  const isFolder = from.node instanceof Folder;
  if (to.node === undefined) return 0;
  if (to.node instanceof Folder) {
    if (!isFolder) return wasi.ERRNO_ISDIR;
    return to.node.entries.size > 0 ? wasi.ERRNO_NOTEMPTY : 0;
  }
  return isFolder ? wasi.ERRNO_NOTDIR : 0;
}

function statusOf(type: number, rights: number | bigint): wasi.Fdstat {
  const status = new wasi.Fdstat(type, 0);
  status.fs_rights_base = BigInt.asUintN(64, BigInt(rights));
  status.fs_rights_inherited = status.fs_rights_base;
  return status;
}

// The shim writes size and times at wrong offsets, so that the times overwrite the size; these are
// the offsets of preview 1.
class Filestat extends wasi.Filestat {
  override write_bytes(view: DataView, at: number): void {
    super.write_bytes(view, at);
    const { size, atim, mtim, ctim } = this;
    [size, atim, mtim, ctim].forEach((each, index) => {
      view.setBigUint64(at + 32 + 8 * index, each, true);
    });
  }
}

function statOf(node: Node): wasi.Filestat {
  const stat = new Filestat(node.number, node.type, BigInt(node.size));
  stat.nlink = 1n;
  stat.atim = stat.mtim = stat.ctim = node.modified;
  return stat;
}

function setTime(watch: Watch, node: Node, time: bigint, flags: number): number {
  if (!watch.mayWrite) return wasi.ERRNO_PERM;
  if (flags & wasi.FSTFLAGS_MTIM_NOW) node.modified = now();
  else if (flags & wasi.FSTFLAGS_MTIM) node.modified = time;
  return 0;
}
