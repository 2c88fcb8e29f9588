//! The server: tools of the protocol, one call at a time, cancellation.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use gander_runtime::Cancellation;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
    ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, serve_server};
use serde_json::{Map, Value};
use tokio::sync::{Semaphore, oneshot};

use crate::answer::Answer;
use crate::arguments::Arguments;
use crate::session::{Failure, Reuse, Session};
use crate::tools::{TOOLS, ToolInfo, tool};
use crate::transport::Lines;

/// Bytes of the stack of a thread that answers.
const STACK: usize = 16 << 20;
/// Time for a call to end after its time limit.
const GRACE: Duration = Duration::from_secs(10);
/// The instructions that the server gives to an agent.
const INSTRUCTIONS: &str = "gander decides claims about transition systems. Only `holds` is a \
    proof and only `fails` is a refutation; report `unknown` and `vacuous` as what they are. An \
    answer is about the text with the SHA-256 that it names and about nothing else. Check an edit \
    with the same `document` or `path` as before: removed or changed claims and new assumptions \
    are listed, and must be reported to whoever asked for the edit.";

/// Serves until the input ends; then `stop` is cancelled, and with it the work of calls.
pub async fn run(session: Arc<Session>, lines: Lines, stop: Cancellation) -> Result<(), String> {
    let handler = Handler {
        session,
        turn: Arc::new(Semaphore::new(1)),
        waiting: Arc::new(AtomicUsize::new(0)),
        stop: stop.clone(),
    };
    let served = match serve_server(handler, lines).await {
        Ok(running) => running.waiting().await.map(drop).map_err(|e| e.to_string()),
        // The input ended before the first message.
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(e) => Err(e.to_string()),
    };
    stop.cancel();
    served
}

struct Handler {
    session: Arc<Session>,
    /// Held by the call that works.
    turn: Arc<Semaphore>,
    waiting: Arc<AtomicUsize>,
    /// Cancelled when the server ends.
    stop: Cancellation,
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let mut info = ServerConfig::new(ServerCapabilities::builder().enable_tools().build());
        info.server_info = Implementation::new("gander", env!("CARGO_PKG_VERSION"));
        info.instructions = Some(INSTRUCTIONS.to_string());
        info
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(TOOLS.iter().map(described).collect()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tool(name).map(described)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = tool(&request.name) else {
            let name = gander_text::shown(&request.name).into_owned();
            return Err(ErrorData::invalid_params(format!("there is no tool `{name}`"), None));
        };
        let arguments = request.arguments.unwrap_or_default();
        let cancel = self.stop.child();
        // Dropping this future stops the work.
        let _guard = CancelOnDrop(cancel.clone());
        let answer = tokio::select! {
            answer = self.answer(tool, arguments, cancel.clone()) => answer,
            () = context.ct.cancelled() => Answer::refusal("the call was cancelled"),
        };
        Ok(result_of(answer).into())
    }
}

struct CancelOnDrop(Cancellation);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Counts a call that waits.
struct Waiting(Arc<AtomicUsize>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Handler {
    /// Answers a call when its turn comes.
    async fn answer(
        &self,
        tool: &'static ToolInfo,
        arguments: Map<String, Value>,
        cancel: Cancellation,
    ) -> Answer {
        let most = self.session.config.limits.waiting;
        let before = self.waiting.fetch_add(1, Ordering::Relaxed);
        let waiting = Waiting(Arc::clone(&self.waiting));
        if before > most {
            return Answer::refusal("too many calls wait; repeat it when one was answered");
        }
        let Ok(turn) = Arc::clone(&self.turn).acquire_owned().await else {
            return Answer::refusal("the server is ending");
        };
        let (sender, receiver) = oneshot::channel();
        let session = Arc::clone(&self.session);
        let body = move || {
            let answer = answered(&session, tool, &arguments, &cancel);
            // The next call begins when the work of this one has ended, also if it was cancelled.
            drop((turn, waiting));
            // The client may have cancelled it.
            let _ = sender.send(answer);
        };
        let spawned = thread::Builder::new().name("mcp-call".into()).stack_size(STACK).spawn(body);
        match spawned {
            Ok(_) => receiver.await.unwrap_or_else(|_| Answer::refusal("the call has no answer")),
            Err(e) => Answer::refusal(&format!("no thread could be started: {e}")),
        }
    }
}

/// The answer to a call.
fn answered(
    session: &Session,
    tool: &ToolInfo,
    given: &Map<String, Value>,
    cancel: &Cancellation,
) -> Answer {
    let limits = || {
        let arguments = Arguments::new(given, &tool.arguments())?;
        let timeout = session.timeout(&arguments)?;
        Ok((arguments, timeout))
    };
    match limits() {
        Ok((arguments, timeout)) => guarded(cancel, timeout + GRACE, |bounded| {
            dispatch(session, tool, &arguments, timeout, bounded)
        }),
        Err::<_, String>(why) => Answer::refusal(&why),
    }
}

/// Runs the work of a call until it is cancelled or this time is over; catches its panics.
fn guarded(
    cancel: &Cancellation,
    longest: Duration,
    work: impl FnOnce(&Cancellation) -> Result<Answer, Failure>,
) -> Answer {
    // Checks have their own time limit; this one is for all other work.
    let bounded = cancel.with_deadline(Instant::now().checked_add(longest));
    let work = || bounded.run_cancellable(|| work(&bounded)).unwrap_or(Err(Failure::Cancelled));
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(answer)) => answer,
        Ok(Err(Failure::Refused(why))) => Answer::refusal(&why),
        Ok(Err(Failure::Cancelled)) => {
            Answer::refusal("the call was cancelled, or its time limit was reached")
        }
        Err(_) => {
            Answer::refusal("gander failed inside, and has no verdict; please report the model")
        }
    }
}

fn dispatch(
    session: &Session,
    tool: &ToolInfo,
    arguments: &Arguments<'_>,
    timeout: Duration,
    cancel: &Cancellation,
) -> Result<Answer, Failure> {
    if tool.name == "simulate_step" {
        return crate::tools::simulate::simulate(session, arguments, timeout, cancel);
    }
    let text = session.text(arguments)?;
    let claim = || arguments.required("claim");
    match tool.name {
        "check" => Ok(match session.check(text, Reuse::Decided, timeout, cancel)? {
            Ok(checked) => crate::answer::checked(session, &checked),
            Err(rejected) => crate::answer::rejected(&rejected),
        }),
        "explain" => crate::tools::explain::explain(session, text, claim()?, timeout, cancel),
        "counterexample" => {
            crate::tools::counterexample::counterexample(session, text, claim()?, timeout, cancel)
        }
        "suggest_next_step" => {
            crate::tools::suggest::suggest(session, text, claim()?, timeout, cancel)
        }
        _ => crate::tools::certify::certify(session, text, arguments, timeout, cancel),
    }
}

fn described(info: &ToolInfo) -> Tool {
    let mut tool = Tool::new(info.name, info.description, Arc::new(info.input_schema()));
    tool.title = Some(info.title.to_string());
    tool.output_schema = Some(Arc::new(info.output_schema()));
    let annotations = ToolAnnotations::new().read_only(info.is_read_only);
    tool.annotations = Some(annotations.destructive(false).open_world(false));
    tool
}

fn result_of(answer: Answer) -> CallToolResult {
    let content = vec![ContentBlock::text(answer.text().to_string())];
    let mut result = match answer.is_error {
        true => CallToolResult::error(content),
        false => CallToolResult::success(content),
    };
    result.structured_content = Some(Value::Object(answer.object));
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use gander_runtime::check_cancelled;

    #[test]
    fn a_panic_a_cancellation_and_a_time_limit_cost_one_call() {
        let cancel = Cancellation::new();
        let long = Duration::from_secs(60);
        let panics = |_: &Cancellation| -> Result<Answer, Failure> {
            std::panic::resume_unwind(Box::new("a panic"))
        };
        let answer = guarded(&cancel, long, panics);
        assert!(answer.is_error && answer.text().contains("failed inside"), "{answer:?}");
        let endless = |_: &Cancellation| -> Result<Answer, Failure> {
            loop {
                check_cancelled();
            }
        };
        let answer = guarded(&cancel, Duration::from_millis(20), endless);
        assert!(answer.is_error && answer.text().contains("time limit"), "{answer:?}");
        assert!(!cancel.is_cancelled());
        let fine = |_: &Cancellation| Ok(Answer::new("fine".to_string(), Value::Null));
        assert!(!guarded(&cancel, long, fine).is_error);
        cancel.cancel();
        assert!(guarded(&cancel, long, endless).is_error);
    }
}
