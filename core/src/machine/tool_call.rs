//! A call of a round on its way: before-hook, approval, run, after-hook, result. Each state holds
//! what the call waits for. Nobody is asked about a call that may not run, and the result is what
//! the hooks left of the outcome; the event always has the whole outcome.

use super::{
    child_wait::ChildWait,
    corrections,
    ctx::StepContext,
    edited_arguments, kept_results,
    ledger::EffectKind,
    pipeline::{self, CallExecution, LaunchedRun, PlannedRun, ToolTask},
    turn_options,
};
use crate::rules::{approval, guard};
use alloc::{format, string::String, sync::Arc};
use innerloop_json::{IntoList, ToJson};
use innerloop_types::{
    action::{Action, DeniedBy, Outcome, Patch, ToolError},
    config::{ApprovalRule, DeniedResult, ExecMode, HookPoint},
    event::EventKind,
    id::{AgentId, EffectId},
    input::{Answer, HookReply},
    json::Json,
    message::{ToolCall, ToolResult},
    output::{Ask, Effect, HookRun},
    time::SessionInstant,
    tool::Job,
};

/// A call and where it stands.
#[derive(Debug)]
pub(crate) struct RoundCall {
    /// The call as the model made it, except for arguments that a person or a hook has edited.
    pub(crate) tool_call: ToolCall,
    pub(crate) state: ToolCallState,
    /// True if its start has been announced.
    pub(crate) announced: bool,
    /// The time when the host was given its run, until that is over.
    pub(crate) since: Option<SessionInstant>,
}

#[derive(Debug)]
pub(crate) enum ToolCallState {
    /// Not begun, or stopped where it stood.
    Stopped,
    /// The host's hook looks at it.
    Hooked { effect: EffectId, work: ToolTask },
    /// A person is asked whether it may run.
    Asking { effect: EffectId, work: ToolTask },
    /// Waits for the calls before it.
    Queued(ToolTask),
    /// The host runs it.
    Running { effect: EffectId, run: LaunchedRun, mode: ExecMode },
    /// It waits for other agents.
    Waiting(ChildWait),
    /// It waits for the user's answer.
    Question { effect: EffectId, question: String },
    /// It has run, and the host's hook looks at what came of it.
    After { effect: EffectId, outcome: Arc<Outcome>, ran: CallExecution },
    /// Answered.
    Done(ToolResult),
}

/// The data that a hook receives about a call.
#[derive(ToJson)]
struct CallHookPayload<'a> {
    call_id: &'a str,
    name: &'a str,
    arguments: &'a str,
    #[json(skip_serializing_if = "str::is_empty")]
    folder: &'a str,
    #[json(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[json(skip_serializing_if = "Option::is_none")]
    is_error: Option<bool>,
}

impl RoundCall {
    pub(crate) const fn new(tool_call: ToolCall) -> Self {
        Self { tool_call, state: ToolCallState::Stopped, announced: false, since: None }
    }

    /// Takes the call through LOOKUP, VALIDATE and the before-hook. Here and below, `before` are
    /// the calls before it in the same reply.
    pub(crate) fn enter(&mut self, before: &[Self], ctx: &mut StepContext<'_>) {
        let name = &self.tool_call.name;
        match turn_options::check_tool(name, ctx).and_then(|()| self.prepare(ctx)) {
            Err(outcome) => self.fail(outcome, ctx),
            Ok(work) => match ctx.hook(HookPoint::BeforeTool, &self.shown(None, &ctx.setup.folder))
            {
                Some(effect) => self.state = ToolCallState::Hooked { effect, work },
                None => self.approve(work, before, ctx),
            },
        }
    }

    pub(crate) fn on_hook(&mut self, reply: HookReply, before: &[Self], ctx: &mut StepContext<'_>) {
        let reply = checked(reply, ctx);
        match core::mem::replace(&mut self.state, ToolCallState::Stopped) {
            ToolCallState::Hooked { work, .. } => match reply {
                HookReply::Allow | HookReply::Failed { .. } => self.approve(work, before, ctx),
                HookReply::Deny { reason } => self.fail(denied(DeniedBy::Hook, &reason), ctx),
                HookReply::Replace(arguments) => {
                    // Validated like the model's own: a hook can write arguments that the tool does
                    // not take, or paths that the input does not allow.
                    self.tool_call.arguments = arguments.text().into();
                    match self.prepare(ctx) {
                        Ok(work) => self.approve(work, before, ctx),
                        Err(outcome) => self.fail(outcome, ctx),
                    }
                }
            },
            ToolCallState::After { outcome, ran, .. } => match reply {
                HookReply::Allow | HookReply::Failed { .. } => {
                    self.settle(ran, &outcome, None, ctx);
                }
                HookReply::Deny { reason }
                    if ctx.setup.config.hooks.after_tool.denial == DeniedResult::Keep =>
                {
                    hook_denied(&reason, ctx);
                    self.settle(ran, &outcome, None, ctx);
                }
                HookReply::Deny { reason } => {
                    self.settle(
                        // As if nothing had run: a final answer that the hook denies does not
                        // stand.
                        CallExecution::Nothing,
                        &denied(DeniedBy::Hook, &reason),
                        None,
                        ctx,
                    );
                }
                HookReply::Replace(text) => {
                    self.settle(ran, &outcome, Some(text_of(&text)), ctx);
                }
            },
            other => self.state = other,
        }
    }

    pub(crate) fn on_answer(&mut self, answer: Answer, ctx: &mut StepContext<'_>) {
        match core::mem::replace(&mut self.state, ToolCallState::Stopped) {
            ToolCallState::Asking { work, .. } => match answer {
                Answer::Allow => self.state = ToolCallState::Queued(work),
                Answer::AllowAlways => {
                    let rule = ApprovalRule::tool(self.tool_call.name.clone());
                    ctx.body.learnt_mut().allowed.push(rule);
                    self.state = ToolCallState::Queued(work);
                }
                Answer::AllowRule(rule) => {
                    ctx.body.learnt_mut().allowed.push(rule);
                    self.state = ToolCallState::Queued(work);
                }
                Answer::AllowEdited(arguments) => {
                    self.tool_call.arguments = arguments.text().into();
                    // The paths are checked once more, since a person may edit a call out of those
                    // of the input.
                    let keeps = |work| turn_options::check_paths(&work, ctx).map(|()| work);
                    match self.prepare(ctx).and_then(keeps) {
                        Ok(work) => self.state = ToolCallState::Queued(work),
                        Err(outcome) => self.fail(outcome, ctx),
                    }
                }
                Answer::Deny { reason, by } => self.fail(denied(by, &reason), ctx),
                Answer::Text(reason) => self.fail(denied(DeniedBy::Person, &reason), ctx),
                // The round ends the run before this is reached.
                Answer::Abort => {}
            },
            ToolCallState::Question { .. } => match answer {
                Answer::Text(text) => self.on_outcome(Outcome::text(text), ctx),
                Answer::Deny { reason, by } => {
                    // It was a question and no approval, so that nobody has denied a call.
                    let outcome = Outcome { denied_by: None, ..denied(by, &reason) };
                    self.on_outcome(outcome, ctx);
                }
                _ => self.on_outcome(Outcome::text("The user agrees."), ctx),
            },
            other => self.state = other,
        }
    }

    /// Takes the outcome of the host's run.
    pub(crate) fn on_done(&mut self, mut outcome: Outcome, ctx: &mut StepContext<'_>) {
        // Measured in session time where the host says nothing, so that a replay gives the same
        // duration.
        let measured = self.ran_ms(ctx.now);
        outcome.duration_ms = outcome.duration_ms.or(measured);
        if let ToolCallState::Running { run: LaunchedRun { run, patch }, .. } = &self.state
            && let Job::Builtin(action) = &run.job
            && outcome.error.is_none()
            && ctx.setup.guards_files()
        {
            let known = &mut ctx.body.learnt_mut().known_files;
            guard::learn(action, &run.folder, patch.as_ref(), &outcome.digests, known);
        }
        self.on_outcome(outcome, ctx);
    }

    /// LOOKUP and VALIDATE.
    fn prepare(&self, ctx: &StepContext<'_>) -> Result<ToolTask, Outcome> {
        pipeline::prepare(&self.tool_call, ctx.setup)
    }

    /// Takes an outcome, of a run or of what stands for one.
    pub(crate) fn on_outcome(&mut self, outcome: Outcome, ctx: &mut StepContext<'_>) {
        let ran = match core::mem::replace(&mut self.state, ToolCallState::Stopped) {
            ToolCallState::Running { run, .. } => CallExecution::Tool(run),
            _ => CallExecution::Nothing,
        };
        self.finish(ran, outcome, ctx);
    }

    /// Waits for agents, unless none of them works any more.
    pub(crate) fn wait_for(&mut self, wait: ChildWait, ctx: &mut StepContext<'_>) {
        let children = &ctx.body.learnt().children;
        if !wait.is_over(children) {
            self.state = ToolCallState::Waiting(wait);
            return;
        }
        let text = wait.text(children);
        wait.end_agents(false, ctx);
        self.on_outcome(Outcome::text(text), ctx);
    }

    /// Takes the final answer, as JSON text. It stands once the call is settled.
    pub(crate) fn on_final_answer(&mut self, answer: String, ctx: &mut StepContext<'_>) {
        self.finish(CallExecution::Answer(answer), Outcome::text("Accepted."), ctx);
    }

    /// Takes the call through EMIT and the after-hook.
    fn finish(&mut self, ran: CallExecution, outcome: Outcome, ctx: &mut StepContext<'_>) {
        let outcome = Arc::new(outcome);
        self.emit(&outcome, ctx);
        let is_hooked = ctx.setup.config.hooks.points.contains(&HookPoint::AfterTool);
        let text = is_hooked.then(|| outcome.joined_text());
        let shown = CallHookPayload {
            is_error: Some(outcome.error.is_some()),
            ..self.shown(text, &ctx.setup.folder)
        };
        match ctx.hook(HookPoint::AfterTool, &shown) {
            Some(effect) => self.state = ToolCallState::After { effect, outcome, ran },
            None => self.settle(ran, &outcome, None, ctx),
        }
    }

    /// Answers the call, which has not run.
    pub(crate) fn fail(&mut self, outcome: Outcome, ctx: &mut StepContext<'_>) {
        self.announce(ctx);
        let outcome = Arc::new(outcome);
        self.emit(&outcome, ctx);
        self.settle(CallExecution::Nothing, &outcome, None, ctx);
    }

    /// Handles the loss of the effect that the call waits for.
    pub(crate) fn on_lost(&mut self, before: &[Self], ctx: &mut StepContext<'_>) {
        match &self.state {
            ToolCallState::Hooked { .. } | ToolCallState::After { .. } => {
                let message = String::from("the hook was lost when the host stopped");
                self.on_hook(HookReply::Failed { message }, before, ctx);
            }
            ToolCallState::Asking { .. } | ToolCallState::Question { .. } => {
                let reason = "the question was lost when the host stopped";
                self.on_answer(Answer::nobody(reason), ctx);
            }
            _ => {
                // Nobody knows when it ended, so that no duration is told.
                self.since = None;
                let message = "The call was interrupted. It may or may not have taken effect: \
                               check before you repeat it.";
                self.on_outcome(Outcome::error(ToolError::Interrupted, message), ctx);
            }
        }
    }

    /// Hands a queued run to the host, unless the guard refuses it. It is asked only now, when the
    /// calls before have run and it is known what they read or wrote.
    pub(crate) fn launch(&mut self, ctx: &mut StepContext<'_>) {
        let (mut planned, mode) = match core::mem::replace(&mut self.state, ToolCallState::Stopped)
        {
            ToolCallState::Queued(ToolTask::Run { run, mode, .. }) => (run, mode),
            other => {
                self.state = other;
                return;
            }
        };
        if ctx.setup.guards_files()
            && let Job::Builtin(action) = &planned.run.job
        {
            let (folder, patch) = (&ctx.setup.folder, planned.patch.as_ref());
            match guard::check(action, folder, patch, &ctx.body.learnt().known_files) {
                Ok(known) => planned.run.known = known,
                Err(outcome) => return self.fail(outcome, ctx),
            }
        }
        self.announce(ctx);
        let launch = planned.launch();
        let effect = ctx.issue(EffectKind::Tool);
        let agent = ctx.body.id;
        let run = Arc::clone(&launch.run);
        ctx.effect(Effect::RunTool { id: effect, agent, run });
        self.state = ToolCallState::Running { effect, run: launch, mode };
        self.since = Some(ctx.now);
    }

    /// Stops the call where it stands and answers it.
    pub(crate) fn interrupt(&mut self, why: &str, ctx: &mut StepContext<'_>) {
        if let ToolCallState::Done(_) = self.state {
            return;
        }
        if let Some(effect) = self.effect() {
            ctx.cancel(effect);
        }
        let message = match core::mem::replace(&mut self.state, ToolCallState::Stopped) {
            ToolCallState::After { outcome, ran, .. } => {
                // It has run, and only the hook's reply is missing: its own outcome is the truth.
                return self.settle(ran, &outcome, None, ctx);
            }
            ToolCallState::Waiting(wait) if wait.is_batch => {
                wait.end_agents(false, ctx);
                ". The agents may have done a part of their tasks."
            }
            ToolCallState::Running { .. } => ". The call may have taken effect in part.",
            _ => " before the call began.",
        };
        let message = format!("Interrupted {why}{message}");
        let mut outcome = Outcome::error(ToolError::Interrupted, message);
        outcome.duration_ms = self.ran_ms(ctx.now);
        self.fail(outcome, ctx);
    }

    /// Returns how long its run took, which ends now.
    fn ran_ms(&mut self, now: SessionInstant) -> Option<u64> {
        self.since.take().map(|since| now.ms_since(since))
    }

    pub(crate) fn announce(&mut self, ctx: &mut StepContext<'_>) {
        if core::mem::replace(&mut self.announced, true) {
            return;
        }
        let counts = &mut ctx.body.run.counts;
        counts.tool_calls = counts.tool_calls.saturating_add(1);
        ctx.event(EventKind::ToolCallStart {
            call_id: self.tool_call.id.clone(),
            name: self.tool_call.name.clone(),
            arguments: self.tool_call.arguments.clone(),
        });
    }

    /// Returns the open effect that the call waits for.
    pub(crate) const fn effect(&self) -> Option<EffectId> {
        match &self.state {
            ToolCallState::Hooked { effect, .. }
            | ToolCallState::Asking { effect, .. }
            | ToolCallState::Running { effect, .. }
            | ToolCallState::Question { effect, .. }
            | ToolCallState::After { effect, .. } => Some(*effect),
            ToolCallState::Stopped
            | ToolCallState::Queued(_)
            | ToolCallState::Waiting(_)
            | ToolCallState::Done(_) => None,
        }
    }

    /// Returns the open effect and its kind.
    pub(crate) fn open_effect(&self) -> Option<(EffectId, EffectKind)> {
        let kind = match &self.state {
            ToolCallState::Hooked { .. } | ToolCallState::After { .. } => EffectKind::Hook,
            ToolCallState::Asking { .. } | ToolCallState::Question { .. } => EffectKind::Ask,
            ToolCallState::Running { .. } => EffectKind::Tool,
            ToolCallState::Stopped
            | ToolCallState::Queued(_)
            | ToolCallState::Waiting(_)
            | ToolCallState::Done(_) => {
                return None;
            }
        };
        self.effect().map(|effect| (effect, kind))
    }

    pub(crate) fn result(self) -> Option<ToolResult> {
        match self.state {
            ToolCallState::Done(result) => Some(result),
            _ => None,
        }
    }

    /// Returns the open effect, made anew for its agent, which works in `folder`.
    pub(crate) fn owed(&self, agent: AgentId, folder: &str, before: &[Self]) -> Option<Effect> {
        Some(match &self.state {
            ToolCallState::Running { effect, run, .. } => {
                Effect::RunTool { id: *effect, agent, run: Arc::clone(&run.run) }
            }
            ToolCallState::Asking { effect, .. } => {
                Effect::Ask { id: *effect, agent, ask: self.question(folder, before) }
            }
            ToolCallState::Question { effect, question } => {
                let ask = Ask::Question { text: question.clone() };
                Effect::Ask { id: *effect, agent, ask }
            }
            ToolCallState::Hooked { effect, .. } => {
                let payload = Json::of(&self.shown(None, folder));
                let hook = HookRun { point: HookPoint::BeforeTool, payload };
                Effect::RunHook { id: *effect, agent, hook }
            }
            ToolCallState::After { effect, outcome, .. } => {
                let shown = self.shown(Some(outcome.joined_text()), folder);
                let is_error = Some(outcome.error.is_some());
                let payload = Json::of(&CallHookPayload { is_error, ..shown });
                let hook = HookRun { point: HookPoint::AfterTool, payload };
                Effect::RunHook { id: *effect, agent, hook }
            }
            ToolCallState::Stopped
            | ToolCallState::Queued(_)
            | ToolCallState::Waiting(_)
            | ToolCallState::Done(_) => {
                return None;
            }
        })
    }

    /// Takes the call through PATHS and APPROVE: asks a person, if the policy wants it.
    fn approve(&mut self, work: ToolTask, before: &[Self], ctx: &mut StepContext<'_>) {
        if let Err(outcome) = turn_options::check_paths(&work, ctx) {
            return self.fail(outcome, ctx);
        }
        let policy = &ctx.setup.config.approval;
        let asks = match &work {
            ToolTask::Inner(_) => false,
            // What is read there was read before: it is no call of the host's.
            ToolTask::Run { run: PlannedRun { run, .. }, .. }
                if matches!(run.job, Job::Kept(_)) =>
            {
                false
            }
            ToolTask::Run { category, .. } => category.is_asked_about(policy.ask),
        };
        let ToolCall { name, arguments, .. } = &self.tool_call;
        let rules = policy.allow.iter().chain(&ctx.body.learnt().allowed);
        let path = match &work {
            ToolTask::Run { run: PlannedRun { run, .. }, .. } => match &run.job {
                Job::Builtin(action) => action.path(),
                Job::Custom(_) | Job::Kept(_) => None,
            },
            ToolTask::Inner(_) => None,
        };
        if !asks || approval::allows(rules, name, arguments, &ctx.setup.folder, path) {
            self.state = ToolCallState::Queued(work);
            return;
        }
        // Nobody is asked about a call that the guard is certain to refuse afterwards.
        if let Err(outcome) = guarded(&work, before, ctx) {
            return self.fail(outcome, ctx);
        }
        let effect = ctx.issue(EffectKind::Ask);
        let (agent, ask) = (ctx.body.id, self.question(&ctx.setup.folder, before));
        ctx.effect(Effect::Ask { id: effect, agent, ask });
        self.state = ToolCallState::Asking { effect, work };
    }

    fn question(&self, folder: &str, before: &[Self]) -> Ask {
        let open = before.iter().filter(|call| !matches!(call.state, ToolCallState::Done(_)));
        Ask::Approval {
            call_id: self.tool_call.id.clone(),
            name: self.tool_call.name.clone(),
            // Arguments that are not JSON never get here; if they did, they would be shown as text.
            arguments: Json::parse(self.tool_call.arguments.clone())
                .unwrap_or_else(|_| Json::of(&self.tool_call.arguments)),
            folder: folder.into(),
            after: open.map(|call| call.tool_call.id.clone()).into_list(),
        }
    }

    /// Returns the action of a built-in tool that is still to run or runs, and the outline of its
    /// patch.
    fn action(&self) -> Option<(&Action, Option<&Patch>)> {
        let (run, patch) = match &self.state {
            ToolCallState::Hooked { work: ToolTask::Run { run, .. }, .. }
            | ToolCallState::Asking { work: ToolTask::Run { run, .. }, .. }
            | ToolCallState::Queued(ToolTask::Run { run, .. }) => (&*run.run, &run.patch),
            ToolCallState::Running { run, .. } => (&*run.run, &run.patch),
            _ => return None,
        };
        match &run.job {
            Job::Builtin(action) => Some((action, patch.as_ref())),
            Job::Custom(_) | Job::Kept(_) => None,
        }
    }

    fn shown<'a>(&'a self, text: Option<String>, folder: &'a str) -> CallHookPayload<'a> {
        let ToolCall { id, name, arguments, .. } = &self.tool_call;
        CallHookPayload { call_id: id, name, arguments, folder, text, is_error: None }
    }

    fn emit(&self, outcome: &Arc<Outcome>, ctx: &mut StepContext<'_>) {
        ctx.event(EventKind::ToolCallEnd {
            call_id: self.tool_call.id.clone(),
            name: self.tool_call.name.clone(),
            outcome: Arc::clone(outcome),
        });
    }

    fn settle(
        &mut self,
        ran: CallExecution,
        outcome: &Outcome,
        replaced: Option<String>,
        ctx: &mut StepContext<'_>,
    ) {
        if let CallExecution::Tool(run) = &ran {
            corrections::on_ran(run, outcome, ctx);
        }
        let (call, setup) = (&self.tool_call, ctx.setup);
        let limit = setup.output_limit(&call.name, ctx.window().saturating_sub(ctx.tokens()));
        let (mut result, whole) = pipeline::result(call, &ran, outcome, replaced, setup, &limit);
        edited_arguments::tell(call, &mut result, ctx);
        if let Some(whole) = whole {
            kept_results::keep(call, whole, &mut result, ctx);
        }
        self.state = ToolCallState::Done(result);
        if let CallExecution::Answer(answer) = ran {
            ctx.body.run.answer = Some(answer.into());
        }
    }
}

/// Checks whether the guard may let a call run once those before it have run.
fn guarded(work: &ToolTask, before: &[RoundCall], ctx: &StepContext<'_>) -> Result<(), Outcome> {
    let ToolTask::Run { run: PlannedRun { run, patch }, .. } = work else { return Ok(()) };
    let Job::Builtin(action) = &run.job else { return Ok(()) };
    if !ctx.setup.guards_files() {
        return Ok(());
    }
    let (folder, patch, known) = (&*run.folder, patch.as_ref(), &ctx.body.learnt().known_files);
    let Err(refusal) = guard::check(action, folder, patch, known) else { return Ok(()) };
    // On a copy: the calls before have not run yet, and may still fail.
    let mut known = known.clone();
    for (action, patch) in before.iter().filter_map(RoundCall::action) {
        guard::learn(action, folder, patch, &[], &mut known);
    }
    guard::check(action, folder, patch, &known).map(|_| ()).map_err(|_| refusal)
}

/// Returns a hook's reply. A failure is reported, and is a denial where the configuration wants
/// that, else consent.
pub(crate) fn checked(reply: HookReply, ctx: &mut StepContext<'_>) -> HookReply {
    let HookReply::Failed { message } = reply else { return reply };
    ctx.warn(&format!("a hook failed: {message}"));
    if ctx.setup.config.hooks.fail_closed {
        return HookReply::Deny { reason: format!("a hook failed: {message}") };
    }
    HookReply::Allow
}

/// Tells of a denial that the model does not read.
pub(crate) fn hook_denied(reason: &str, ctx: &mut StepContext<'_>) {
    ctx.warn(&format!("a hook denied it: {reason}"));
}

/// Returns the text that a hook puts in the place of another: the content of a JSON string, or
/// other JSON as it is.
pub(crate) fn text_of(json: &Json) -> String {
    innerloop_json::from_str(json.text()).unwrap_or_else(|_| json.text().into())
}

fn denied(by: DeniedBy, reason: &str) -> Outcome {
    let message = if reason.trim().is_empty() {
        String::from("The call was denied.")
    } else {
        format!("The call was denied: {reason}")
    };
    Outcome::denied(by, message)
}
