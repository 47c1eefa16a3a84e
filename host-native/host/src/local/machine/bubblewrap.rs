//! Bubblewrap around a command: the part of the machine that the command sees, as the arguments of
//! `bwrap`, and a test of whether that works here. Only what is listed is seen, so that a new place
//! for secrets is hidden from the start.

use super::variables::EnvironmentVariables;
use innerloop_tools::VERSION_SYSTEMS;
use std::{
    ffi::{OsStr, OsString},
    io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// The time limit for the test.
const PATIENCE: Duration = Duration::from_secs(5);

/// The folders of the system that can be read: programs, and what they need.
const SYSTEM: [&str; 9] =
    ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store"];

/// The settings of the system that can be read: names, addresses, certificates, libraries, the time
/// zone.
// A list and not all of `/etc`, which also holds passwords and keys of services.
const SETTINGS: [&str; 22] = [
    "alternatives",
    "ca-certificates",
    "fonts",
    "gai.conf",
    "group",
    "host.conf",
    "hosts",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "mime.types",
    "nsswitch.conf",
    "os-release",
    "passwd",
    "pki",
    "protocols",
    "resolv.conf",
    "services",
    "ssl",
    "terminfo",
    "timezone",
];

/// The parts of the home folder that can be read: programs that were installed there, and what they
/// have fetched. None of them is known to hold keys.
// Parts of folders and not the whole: beside a cache there may be a file with a token, such as
// `settings.xml` of Maven beside `.m2/repository`.
const CACHES: [&str; 17] = [
    ".asdf",
    ".bun/bin",
    ".bun/install/cache",
    ".cache/pip",
    ".cache/uv",
    ".deno/bin",
    ".local/bin",
    ".local/lib",
    ".local/share/mise",
    ".local/share/pnpm",
    ".local/share/uv",
    ".m2/repository",
    ".npm/_cacache",
    ".pyenv",
    ".rbenv",
    ".sdkman/candidates",
    ".volta",
];

/// Folders that a variable may name, with their usual places in the home folder, and the parts of
/// them that can be read.
const NAMED: [(&str, &str, &[&str]); 4] = [
    // Without `credentials.toml`, which holds tokens of registries.
    ("CARGO_HOME", ".cargo", &["bin", "env", "git", "registry"]),
    ("RUSTUP_HOME", ".rustup", &[""]),
    ("GOPATH", "go", &["bin", "pkg"]),
    ("NVM_DIR", ".nvm", &[""]),
];

/// The folder of the workspace that can't be changed, besides those of version systems.
const KEPT: &str = ".innerloop";

/// Bubblewrap, over one workspace.
#[derive(Clone, Debug)]
pub(super) struct Bubblewrap {
    pub(super) program: PathBuf,
    pub(super) workspace: PathBuf,
    /// True if commands reach the network.
    pub(super) network: bool,
}

/// A path that a command sees.
struct Mount {
    option: &'static str,
    source: Option<PathBuf>,
    place: PathBuf,
}

impl Bubblewrap {
    /// Returns the arguments that start a command in `folder`, which may write to the file `note`.
    pub(super) fn argv(
        &self,
        command: Vec<OsString>,
        folder: &Path,
        note: Option<&Path>,
        variables: &EnvironmentVariables,
    ) -> Vec<OsString> {
        let kept = VERSION_SYSTEMS.into_iter().chain([KEPT]);
        let kept = kept.map(|name| self.workspace.join(name));
        // A mount covers the file that a link leads to, and the link itself can still be replaced:
        // it would protect nothing, and hide something else.
        let kept = kept.filter(|path| !path.is_symlink());
        let mut mounts = self.mounts(variables);
        mounts.extend(kept.map(Mount::read));
        mounts.extend(note.map(|note| Mount::at("--bind", note)));
        // A later mount covers an earlier one, so that a path comes after those that contain it.
        // The sort is stable: the workspace stays behind an empty folder at the same path.
        mounts.sort_by_key(|mount| mount.place.components().count());
        let network = (!self.network).then_some("--unshare-net");
        let options = [
            // Without these a killed host would leave commands behind, and a command could put
            // input into the terminal.
            "--die-with-parent",
            "--new-session",
            "--unshare-user-try",
            "--unshare-pid",
            "--unshare-ipc",
            "--unshare-uts",
            "--unshare-cgroup-try",
        ];
        let options = options.into_iter().chain(network).chain(["--cap-drop", "ALL"]);
        let mut argv = vec![self.program.clone().into()];
        argv.extend(options.map(OsString::from));
        argv.extend(mounts.into_iter().flat_map(Mount::args));
        argv.extend(["--chdir".into(), folder.into(), "--".into()]);
        argv.extend(command);
        argv
    }

    /// Returns the mounts for commands; among those of one depth, the workspace comes last.
    fn mounts(&self, variables: &EnvironmentVariables) -> Vec<Mount> {
        let folder = |name: &str| {
            let path = variables.get(OsStr::new(name)).map(PathBuf::from);
            // A relative path would lead elsewhere from every folder.
            path.filter(|path| path.is_absolute())
        };
        let home = folder("HOME");
        let mut mounts = vec![
            Mount { option: "--proc", source: None, place: "/proc".into() },
            Mount { option: "--dev", source: None, place: "/dev".into() },
        ];
        // `/run` and `/tmp` hold sockets of services, through which a command could have others do
        // its work.
        let empty = ["/tmp", "/var/tmp", "/run"].map(PathBuf::from).into_iter();
        mounts.extend(empty.chain(home.clone()).map(Mount::empty));
        mounts.extend(SYSTEM.map(|path| Mount::read(path.into())));
        mounts.extend(SETTINGS.map(|name| Mount::read(Path::new("/etc").join(name))));
        for (variable, usual, parts) in NAMED {
            let named = folder(variable).or_else(|| Some(home.as_ref()?.join(usual)));
            let named = named.into_iter();
            mounts.extend(named.flat_map(|at| parts.iter().map(move |part| join(&at, part))));
        }
        let caches = home.iter().flat_map(|home| CACHES.map(|cache| Mount::read(home.join(cache))));
        mounts.extend(caches);
        mounts.push(Mount::at("--bind", &self.workspace));
        mounts
    }

    /// Returns the reason why it does not work here; `None` if it does.
    pub(super) fn fault(&self, variables: &EnvironmentVariables) -> Option<String> {
        // With the arguments of a real command: that the program is installed does not tell whether
        // this system lets it make namespaces.
        let argv = self.argv(
            vec!["/bin/sh".into(), "-c".into(), ":".into()],
            &self.workspace,
            None,
            variables,
        );
        let mut command = Command::new(&self.program);
        command.args(argv.get(1..).unwrap_or_default()).env_clear().envs(variables);
        tried(command).unwrap_or_else(|error| Some(error.to_string()))
    }
}

/// Returns the failure of a command that should do nothing but succeed.
fn tried(mut command: Command) -> io::Result<Option<String>> {
    let begun = Instant::now();
    let pipes = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = pipes.spawn()?;
    while child.try_wait()?.is_none() {
        if begun.elapsed() > PATIENCE {
            child.kill()?;
            child.wait()?;
            return Ok(Some("it does not end".to_owned()));
        }
        thread::sleep(Duration::from_millis(1));
    }
    let done = child.wait_with_output()?;
    let said = String::from_utf8_lossy(&done.stderr).trim().replace('\n', "; ");
    let said = if said.is_empty() { done.status.to_string() } else { said };
    Ok(Some(said).filter(|_| !done.status.success()))
}

fn join(folder: &Path, part: &str) -> Mount {
    Mount::read(if part.is_empty() { folder.to_owned() } else { folder.join(part) })
}

impl Mount {
    /// Returns a mount of a path at the same path.
    fn at(option: &'static str, path: &Path) -> Self {
        Self { option, source: Some(path.to_owned()), place: path.to_owned() }
    }

    /// Returns a mount that can only be read. It is left out if there is nothing at the path.
    fn read(path: PathBuf) -> Self {
        Self { option: "--ro-bind-try", source: Some(path.clone()), place: path }
    }

    /// Returns an empty folder of the command's own.
    fn empty(path: PathBuf) -> Self {
        Self { option: "--tmpfs", source: None, place: path }
    }

    fn args(self) -> impl Iterator<Item = OsString> {
        let Self { option, source, place } = self;
        [Some(option.into()), source.map(Into::into), Some(place.into())].into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The arguments, an option with what belongs to it on a line.
    fn told(argv: &[OsString]) -> String {
        let words = argv.iter().map(|word| word.to_str().unwrap());
        words.fold(String::new(), |told, word| {
            let between = if word.starts_with("--") { "\n" } else { " " };
            format!("{told}{between}{word}")
        })
    }

    fn jail(workspace: &str, network: bool) -> Bubblewrap {
        let (program, workspace) = ("/usr/bin/bwrap".into(), workspace.into());
        Bubblewrap { program, workspace, network }
    }

    const LIMITS: &str = "
--die-with-parent
--new-session
--unshare-user-try
--unshare-pid
--unshare-ipc
--unshare-uts
--unshare-cgroup-try";

    const SYSTEM: &str = "
--ro-bind-try /usr /usr
--ro-bind-try /bin /bin
--ro-bind-try /sbin /sbin
--ro-bind-try /lib /lib
--ro-bind-try /lib32 /lib32
--ro-bind-try /lib64 /lib64
--ro-bind-try /libx32 /libx32
--ro-bind-try /opt /opt
--tmpfs /var/tmp";

    const SETTINGS: &str = "
--ro-bind-try /nix/store /nix/store
--ro-bind-try /etc/alternatives /etc/alternatives
--ro-bind-try /etc/ca-certificates /etc/ca-certificates
--ro-bind-try /etc/fonts /etc/fonts
--ro-bind-try /etc/gai.conf /etc/gai.conf
--ro-bind-try /etc/group /etc/group
--ro-bind-try /etc/host.conf /etc/host.conf
--ro-bind-try /etc/hosts /etc/hosts
--ro-bind-try /etc/ld.so.cache /etc/ld.so.cache
--ro-bind-try /etc/ld.so.conf /etc/ld.so.conf
--ro-bind-try /etc/ld.so.conf.d /etc/ld.so.conf.d
--ro-bind-try /etc/localtime /etc/localtime
--ro-bind-try /etc/mime.types /etc/mime.types
--ro-bind-try /etc/nsswitch.conf /etc/nsswitch.conf
--ro-bind-try /etc/os-release /etc/os-release
--ro-bind-try /etc/passwd /etc/passwd
--ro-bind-try /etc/pki /etc/pki
--ro-bind-try /etc/protocols /etc/protocols
--ro-bind-try /etc/resolv.conf /etc/resolv.conf
--ro-bind-try /etc/services /etc/services
--ro-bind-try /etc/ssl /etc/ssl
--ro-bind-try /etc/terminfo /etc/terminfo
--ro-bind-try /etc/timezone /etc/timezone";

    #[test]
    fn m3_without_a_home_a_command_sees_programs_settings_and_the_workspace() {
        let argv = jail("/srv/p", true).argv(
            vec!["sh".into(), "-c".into(), "ls".into()],
            Path::new("/srv/p/sub"),
            Some(Path::new("/tmp/notes/0")),
            &EnvironmentVariables::new(),
        );
        let expected = format!(
            " /usr/bin/bwrap{LIMITS}
--cap-drop ALL
--proc /proc
--dev /dev
--tmpfs /tmp
--tmpfs /run{SYSTEM}{SETTINGS}
--bind /srv/p /srv/p
--ro-bind-try /srv/p/.git /srv/p/.git
--ro-bind-try /srv/p/.hg /srv/p/.hg
--ro-bind-try /srv/p/.sl /srv/p/.sl
--ro-bind-try /srv/p/.jj /srv/p/.jj
--ro-bind-try /srv/p/.bzr /srv/p/.bzr
--ro-bind-try /srv/p/.svn /srv/p/.svn
--ro-bind-try /srv/p/_darcs /srv/p/_darcs
--ro-bind-try /srv/p/.pijul /srv/p/.pijul
--ro-bind-try /srv/p/.innerloop /srv/p/.innerloop
--bind /tmp/notes/0 /tmp/notes/0
--chdir /srv/p/sub
-- sh -c ls"
        );
        assert_eq!(told(&argv), expected);
    }

    #[test]
    fn m3_of_a_home_a_command_sees_what_holds_no_keys_and_a_workspace_in_it() {
        let variables = [("HOME", "/home/u"), ("CARGO_HOME", "/data/cargo"), ("GOPATH", "go")];
        let variables = variables.map(|(name, value)| (name.into(), value.into()));
        let argv = jail("/home/u/p", false).argv(
            vec!["ls".into()],
            Path::new("/home/u/p"),
            None,
            &EnvironmentVariables::from(variables),
        );
        let told = told(&argv);
        let (first, home) = told.split_once("--tmpfs /home/u\n").unwrap();
        assert!(first.contains("--unshare-cgroup-try\n--unshare-net\n--cap-drop ALL\n"), "{told}");
        assert!(!first.contains("/home/u"), "{told}");
        let home = home.lines().filter(|line| !line.contains(" /etc/"));
        let expected = "\
--ro-bind-try /nix/store /nix/store
--ro-bind-try /data/cargo/bin /data/cargo/bin
--ro-bind-try /data/cargo/env /data/cargo/env
--ro-bind-try /data/cargo/git /data/cargo/git
--ro-bind-try /data/cargo/registry /data/cargo/registry
--ro-bind-try /home/u/.rustup /home/u/.rustup
--ro-bind-try /home/u/.nvm /home/u/.nvm
--ro-bind-try /home/u/.asdf /home/u/.asdf
--ro-bind-try /home/u/.pyenv /home/u/.pyenv
--ro-bind-try /home/u/.rbenv /home/u/.rbenv
--ro-bind-try /home/u/.volta /home/u/.volta
--bind /home/u/p /home/u/p
--ro-bind-try /home/u/go/bin /home/u/go/bin
--ro-bind-try /home/u/go/pkg /home/u/go/pkg
";
        let found = home.take(14).map(|line| format!("{line}\n")).collect::<String>();
        assert_eq!(found, expected);
        let secret = [".ssh", ".aws", "credentials", ".npmrc", ".gitconfig", ".netrc"];
        assert!(secret.iter().all(|name| !told.contains(name)), "{told}");
        assert!(told.ends_with("--chdir /home/u/p\n-- ls"), "{told}");
    }

    #[test]
    fn m3_a_workspace_that_holds_what_is_covered_comes_before_it() {
        let variables = EnvironmentVariables::from([("HOME".into(), "/srv/home/u".into())]);
        let at = |workspace: &str, mount: &str| {
            let jail = jail(workspace, false);
            let argv = jail.argv(Vec::new(), Path::new(workspace), None, &variables);
            told(&argv).find(mount).unwrap_or_else(|| panic!("{mount}"))
        };
        let place = |mount: &str| at("/srv", mount);
        assert!(place("--bind /srv /srv\n") < place("--tmpfs /srv/home/u\n"));
        assert!(place("--tmpfs /srv/home/u\n") < place("/srv/home/u/.local/bin\n"));
        let place = |mount: &str| at("/srv/home/u", mount);
        // The home folder itself was asked for.
        assert!(place("--tmpfs /srv/home/u\n") < place("--bind /srv/home/u /srv/home/u\n"));
        assert!(place("--bind /srv/home/u /srv/home/u\n") < place("/srv/home/u/.git\n"));
    }
}
