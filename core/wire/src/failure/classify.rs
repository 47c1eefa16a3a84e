//! The kind of a failure, from the provider's names for it, its words and the HTTP status.

use super::{
    budget::{self, says},
    kind::FailureKind,
};
use alloc::string::String;
use innerloop_types::text::listed;

/// Names that tell the kind whatever the status is, in the order in which they count. They are
/// without case and punctuation. Each list is one text, since in the page's module an array of
/// texts costs a pointer and a length for each.
const NAMES: [(FailureKind, &str); 6] = [
    (
        FailureKind::ContentFilter,
        "contentfilter|contentfiltered|responsibleaipolicyviolation|contentpolicyviolation|\
         imagecontentpolicyviolation|cyberpolicy|cyberpolicyviolation|biopolicy|\
         misalignmentpolicyviolation|datainspectionfailed|moderationblocked|prohibitedcontent",
    ),
    (
        FailureKind::ContextOverflow,
        "contextlengthexceeded|contextwindowexceeded|modelcontextwindowexceeded|\
         exceedcontextsizeerror|requesttoolarge|toomanyprompttokens|prompttoolong",
    ),
    (
        FailureKind::Quota,
        "insufficientquota|billingerror|billinghardlimitreached|usagelimitreached|usagenotincluded|\
         insufficientbalance|insufficientcredits|insufficientfunds|exceededcurrentquotaerror|\
         paymentrequired|quotaexhausted|quotaperday|billingdisabled",
    ),
    (
        FailureKind::Authentication,
        "authenticationerror|permissionerror|invalidapikey|apikeyinvalid|incorrectapikey|\
         invalidapikeyerror|invalidauthenticationerror|unauthenticated|unauthorized|\
         unauthorizederror|permissiondenied|permissiondeniederror|accessdenied|\
         accessdeniedexception|unrecognizedclientexception|expiredtokenexception|\
         accountdeactivated|tokenexpired",
    ),
    (
        FailureKind::Overloaded,
        "overloaded|overloadederror|serverisoverloaded|serveroverloaded|modeloverloaded|\
         engineoverloaded|engineoverloadederror|slowdown|unavailable|capacityexceeded|\
         modelnotreadyexception",
    ),
    (
        FailureKind::RateLimit,
        "ratelimit|ratelimited|ratelimiterror|ratelimitexceeded|ratelimitreached|\
         ratelimitreachederror|toomanyrequests|toomanyrequestsexception|resourceexhausted|\
         throttlingexception|throttlingerror|throttling",
    ),
];

/// Names that tell the kind where no status does: inside a stream. What they do not name is worth
/// another try.
const NAMES_IN_STREAM: &str = "invalidrequest|invalidrequesterror|badrequest|badrequesterror|\
    invalidargument|failedprecondition|invalidprompt|validationerror|validationexception|\
    unsupportedparameter|unsupportedvalue|notfound|notfounderror|modelnotfound|\
    dataresidencymismatch";

/// Words of an overflow, each line one provider's or more, in lower case.
const TOO_LONG: &str = "\
    prompt is too long|\
    prompt too long|\
    input is too long|\
    exceed context limit|\
    exceeds the context|\
    exceed the context|\
    exceeds the available context|\
    exceeds the maximum number of tokens|\
    exceeds the model's maximum context|\
    exceeds the model's context|\
    maximum context length|\
    max context length|\
    maximum prompt length is|\
    reduce the length of the messages|\
    greater than the context length|\
    longer than the context length|\
    longer than the model's context length|\
    longer than the maximum model length|\
    prompt exceeds max length|\
    truncate prompt with n_keep|\
    context the overflows|\
    context window exceeds limit|\
    context window exceeded|\
    context length exceeded|\
    context size has been exceeded|\
    exceeded model token limit|\
    token limit exceeded|\
    too many tokens|\
    too large for model with|\
    `max_new_tokens` must be <=|\
    `inputs` must have less than|\
    range of input length should be";

/// Words of a refused key, in lower case: some providers answer it with status 400.
const BAD_KEY: &str = "\
    incorrect api key|\
    invalid api key|\
    invalid x-api-key|\
    api key not valid|\
    api key not found|\
    api key expired|\
    api key is missing|\
    missing api key|\
    no api key";

/// Words of an account without credit, in lower case.
const NO_CREDIT: &str = "\
    credit balance is too low|\
    insufficient balance|\
    insufficient credit|\
    insufficient funds|\
    used all available credits|\
    requires more credits|\
    run out of credits|\
    billing hard limit";

/// Words of a filter, in lower case.
const FILTERED: &str = "\
    content management policy|\
    flagged as potentially violating|\
    content exists risk|\
    violates our usage policy";

/// Words of a model or a server that takes no tools (Ollama, OpenRouter, llama.cpp, vLLM), in
/// lower case.
const NO_TOOLS: &str = "\
    does not support tool|\
    not support function call|\
    endpoints found that support tool use|\
    tools with stream|\
    tools param requires|\
    requires --jinja|\
    unsupported param: tool|\
    tool choice requires --enable-auto-tool-choice|\
    tool calling is not supported|\
    tool use is not supported|\
    tools are not supported";

/// Words of a server that takes no pictures, which llama.cpp and Ollama answer with status 500, in
/// lower case.
pub(super) const NO_IMAGES: &str = "\
    image input is not supported|\
    unsupported content part type|\
    failed to load image|\
    missing data required for image input";

/// Returns the kind of a failure with that status (the HTTP status, or the error's own number),
/// those names and that message.
pub(super) fn classify(status: u16, names: &[String], message: &str) -> FailureKind {
    let message = message.to_ascii_lowercase();
    let says = |phrases| says(&message, phrases);
    let is_named = |known| names.iter().any(|name| listed(known).any(|known| known == name));
    let in_stream = (200..300).contains(&status);
    // Words are looked at where the status says no more than that something was wrong.
    let is_vague = in_stream || matches!(status, 400 | 403 | 413 | 422);
    // Groq cannot read the model's own call: another try gives another call.
    if is_named("toolusefailed") {
        return FailureKind::Protocol;
    }
    let mut named = NAMES.iter().filter(|(_, known)| is_named(known)).map(|(kind, _)| *kind);
    let named = named.next();
    // Providers also name an empty account and a request above the limit itself a rate limit, so
    // that the words are looked at first.
    let is_decided = named.is_some_and(|kind| kind != FailureKind::RateLimit);
    let overflow = || match budget::is_output_too_large(&message) {
        true => FailureKind::InvalidRequest,
        false => FailureKind::ContextOverflow,
    };
    match named.filter(|_| is_decided) {
        Some(FailureKind::ContextOverflow) => return overflow(),
        Some(kind) => return kind,
        None => {}
    }
    // llama.cpp says so with status 500 as well, so any status will do.
    if says(NO_TOOLS) {
        return FailureKind::NoTools;
    }
    if status >= 500 && says(NO_IMAGES) {
        return FailureKind::InvalidRequest;
    }
    let too_long = says(TOO_LONG) || (says("exceeds the limit of") && says("token"));
    // Bedrock's "too many tokens, please wait" is a rate limit.
    if is_vague && status != 403 && too_long && !says("please wait") {
        return overflow();
    }
    if is_vague && says(FILTERED) {
        return FailureKind::ContentFilter;
    }
    if status < 500 && says(NO_CREDIT) {
        return FailureKind::Quota;
    }
    if is_vague && says(BAD_KEY) {
        return FailureKind::Authentication;
    }
    // A request that is larger than the limit itself never gets through.
    if status == 413 {
        return FailureKind::ContextOverflow;
    }
    if (in_stream || status >= 500) && says("overloaded|server busy|high demand") {
        return FailureKind::Overloaded;
    }
    match named {
        Some(kind) => kind,
        None if in_stream && is_named(NAMES_IN_STREAM) => FailureKind::InvalidRequest,
        None => kind_of_status(status),
    }
}

/// Returns the kind that a status stands for where names and words say nothing better.
const fn kind_of_status(status: u16) -> FailureKind {
    match status {
        401 | 403 => FailureKind::Authentication,
        402 => FailureKind::Quota,
        // A proxy on this side refuses, and no provider has seen the request.
        407 => FailureKind::Host,
        // Errors within a stream that say nothing better, and the statuses that the providers' own
        // libraries retry.
        200..=299 | 408 | 409 | 499 => FailureKind::Server,
        413 => FailureKind::ContextOverflow,
        429 => FailureKind::RateLimit,
        498 | 529 => FailureKind::Overloaded,
        500.. => FailureKind::Server,
        _ => FailureKind::InvalidRequest,
    }
}
