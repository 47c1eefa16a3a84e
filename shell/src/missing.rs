//! Commands that could be installed: whoever calls one is told how, where bash would say that there
//! is none. They are no commands otherwise: `command -v` does not find them.

use bashkit::{Builtin, BuiltinContext, CommandResolver, ExecResult, Result, async_trait};
use innerloop_shell_protocol::Missing as Known;
use std::{collections::BTreeMap, sync::Arc};

/// The status of a command that is not there.
const NOT_FOUND: i32 = 127;

/// What is said of each.
pub(crate) struct Missing(BTreeMap<String, Arc<Told>>);

struct Told(String);

impl Missing {
    pub(crate) fn new(known: &[Known]) -> Self {
        let told = |it: &Known| Arc::new(Told(format!("bash: {}\n", it.words)));
        Self(known.iter().map(|it| (it.command.clone(), told(it))).collect())
    }
}

impl CommandResolver for Missing {
    fn resolve(&self, name: &str) -> Option<Arc<dyn Builtin>> {
        let told = Arc::clone(self.0.get(name)?);
        Some(told)
    }
}

#[async_trait]
impl Builtin for Told {
    async fn execute(&self, _context: BuiltinContext<'_>) -> Result<ExecResult> {
        Ok(ExecResult::err(self.0.clone(), NOT_FOUND))
    }
}
