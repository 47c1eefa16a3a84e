//! The types of the npm package: those of the session's JSON, in files of which each imports only
//! those before it. A type without a public name in the package is written out where it is used.

mod text;

use crate::{
    docs::camel,
    types::{MadeFile, ModulePlan, PublicTypes},
};
use innerloop_json::schema::{
    ChoiceForm, ChoiceSchema, FieldPresence, ObjectSchema, TypeBody, TypeSchema, ValueSchema,
    VariantContent, VariantSchema,
};
use std::collections::{BTreeMap, BTreeSet};
use text::{broken, comment, fits, literal};

/// The types that users of the package know by name, with their names there.
const NAMES: [(&str, &str); 79] = [
    ("Action", "Action"),
    // The options have a `NamedAgent` of their own.
    ("NamedAgent", "AgentDefinition"),
    ("AgentState", "AgentState"),
    ("Answer", "Answer"),
    ("ApprovalPolicy", "ApprovalPolicy"),
    ("ApprovalRule", "ApprovalRule"),
    ("Ask", "Ask"),
    ("Block", "Block"),
    ("BuiltinTools", "BuiltinTools"),
    ("BodyBytes", "Bytes"),
    ("ReportedChange", "FileChange"),
    ("Command", "Command"),
    ("CommandWord", "CommandWord"),
    ("CompactionPolicy", "CompactionPolicy"),
    ("EndpointCompat", "Compat"),
    ("ConfigError", "ConfigError"),
    ("ContextUsage", "ContextUsage"),
    ("CustomCommand", "CustomCommand"),
    ("Deadline", "Deadline"),
    ("DeniedBy", "DeniedBy"),
    ("Effect", "Effect"),
    ("ErrorKind", "ErrorKind"),
    ("Event", "AgentEvent"),
    ("EnvironmentFacts", "Facts"),
    ("FinishReason", "Finish"),
    ("FirewallPolicy", "FirewallPolicy"),
    ("HistoryFold", "Fold"),
    ("FoldKind", "FoldKind"),
    ("FoldReason", "FoldReason"),
    ("WindowFullness", "Fullness"),
    ("HookPoint", "HookPoint"),
    ("HookReply", "HookReply"),
    ("HttpInput", "HttpInput"),
    ("HttpRequest", "HttpRequest"),
    ("Input", "Input"),
    ("JsonFault", "JsonFault"),
    ("LeftOutKind", "Leaving"),
    ("LeftOut", "LeftOut"),
    ("LimitAction", "LimitAction"),
    ("Limits", "SessionLimits"),
    ("LoopPolicy", "LoopPolicy"),
    ("LoopStep", "LoopStep"),
    ("ModelConfig", "ModelConfig"),
    ("ModelOrigin", "ModelOrigin"),
    ("DeniedResult", "DeniedResult"),
    ("Outcome", "Outcome"),
    ("Output", "Output"),
    ("Part", "Part"),
    ("PartPlace", "PartPlace"),
    ("PendingAsks", "PendingAsks"),
    ("PlanItem", "PlanItem"),
    ("ConfigPreset", "Preset"),
    ("Price", "Price"),
    ("RejectionReason", "Reason"),
    ("RejectedInput", "Rejected"),
    ("Reply", "Reply"),
    ("ReplyFault", "ReplyFault"),
    ("RoutedModel", "RoutedModel"),
    ("RoutingPolicy", "RoutingPolicy"),
    ("ResponseHead", "ResponseHead"),
    ("RunEnd", "RunEnd"),
    ("VisibleTurn", "Said"),
    ("SecretHandling", "SecretHandling"),
    ("SessionConfig", "SessionConfig"),
    ("SpendAmount", "Spend"),
    ("Status", "SessionStatus"),
    ("ToolCall", "SessionToolCall"),
    ("ToolChoice", "SessionToolChoice"),
    ("ToolError", "ToolErrorKind"),
    ("ToolInput", "ToolInput"),
    ("ToolResult", "SessionToolResult"),
    ("ToolRun", "ToolRun"),
    ("TaskKind", "TaskKind"),
    ("ToolSpec", "ToolSpec"),
    ("Turn", "SessionTurn"),
    ("TurnOptions", "InputOptions"),
    ("Usage", "SessionUsage"),
    ("RewindReason", "Why"),
    ("UntrustedText", "UntrustedText"),
];
/// Events whose names say too little, or something else, outside of their module.
const EVENT_NAMES: [(&str, &str); 2] = [("plan", "PlanUpdate"), ("error", "Failure")];
/// The types that are declared as they may be given, not as they are written.
const GIVEN: [&str; 3] = ["Command", "CustomCommand", "PendingAsks"];
/// The types that are declared as `OneOf`: objects that have exactly one of their fields.
const ONE_OF: [&str; 5] = ["Ask", "BuiltinTools", "Effect", "Job", "Output"];

const PLANS: [ModulePlan; 9] = [
    ModulePlan {
        path: "wasm/npm/src/json/data.ts",
        about: "The data that inputs, effects, events and the history hold, as the session's log \
                has it (snake_case).",
        roots: &[
            "Usage",
            "Part",
            "AgentState",
            "RunEnd",
            "ErrorKind",
            "Outcome",
            "Status",
            "ContextUsage",
        ],
    },
    ModulePlan {
        path: "wasm/npm/src/json/action.ts",
        about: "What built-in tools do, as the session's log has it (snake_case).",
        roots: &["Action"],
    },
    ModulePlan {
        path: "wasm/npm/src/json/history.ts",
        about: "What was said, as the session's log has it (snake_case).",
        roots: &["Turn", "VisibleTurn"],
    },
    ModulePlan {
        path: "wasm/npm/src/json/model.ts",
        about: "Which model a session has, and how to talk to it, as its log has it (snake_case).",
        roots: &["ModelConfig", "RoutingPolicy"],
    },
    ModulePlan {
        path: "wasm/npm/src/json/policies.ts",
        about: "The policies of a session, which its configuration holds, as its log has them \
                (snake_case).",
        roots: &["ApprovalPolicy", "CompactionPolicy", "FirewallPolicy", "LoopPolicy"],
    },
    ModulePlan {
        path: "wasm/npm/src/json/config.ts",
        about: "The configuration of a session, as its log has it (snake_case).",
        roots: &["SessionConfig", "ConfigPreset"],
    },
    ModulePlan {
        path: "wasm/npm/src/json/events.ts",
        about: "Things to know, as the session's log has them.",
        roots: &["Event"],
    },
    ModulePlan {
        path: "wasm/npm/src/json/protocol.ts",
        about: "What goes into a session and what follows from it, as JSON. What goes through this \
                door is an object with one key, its kind, whose value is `null` if there is \
                nothing to say.",
        roots: &["Input", "Command", "Output", "Deadline", "RejectedInput"],
    },
    ModulePlan {
        path: "wasm/npm/src/json/commands.ts",
        about: "What people type, as commands, answers and texts.",
        roots: &["CommandWord", "CustomCommand", "PendingAsks"],
    },
];
/// The module of types that are written by hand.
const BY_HAND: &str = "./shapes.js";
const MADE: &str = "Made of the core's types, whose words these are: see \
                    CONTRIBUTING.md#generated-files.";

/// Returns the generated files of the package.
pub(crate) fn files(types: &PublicTypes) -> Vec<MadeFile> {
    let mut places = BTreeMap::new();
    for own in ["OneOf", "Patch"] {
        places.insert(own.to_owned(), BY_HAND.to_owned());
    }
    let made = PLANS.iter().map(|plan| {
        let mut file = TypescriptFile {
            types,
            names: BTreeSet::new(),
            used: BTreeSet::new(),
            out: String::new(),
        };
        for root in plan.roots {
            file.add(root, &places);
        }
        let name = plan.path.rsplit('/').next().unwrap_or_default();
        let module = format!("./{}", name.replace(".ts", ".js"));
        for own in &file.names {
            places.insert(own.clone(), module.clone());
        }
        let head = text::line_comment(&format!("{} {MADE}", plan.about));
        let imports = imports(&file.used, &places, &module);
        MadeFile { path: plan.path, text: format!("{head}\n{imports}{}", file.out.trim_start()) }
    });
    made.collect()
}

fn imports(used: &BTreeSet<String>, places: &BTreeMap<String, String>, own: &str) -> String {
    let mut by_module: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for name in used {
        if let Some(module) = places.get(name).filter(|module| *module != own) {
            by_module.entry(module).or_default().push(name);
        }
    }
    let mut lines = String::new();
    for (module, names) in by_module {
        let line = format!("import type {{ {} }} from \"{module}\";", names.join(", "));
        lines += &match fits(&line) {
            true => line,
            false => format!("import type {{\n  {},\n}} from \"{module}\";", names.join(",\n  ")),
        };
        lines.push('\n');
    }
    if !lines.is_empty() {
        lines.push('\n');
    }
    lines
}

fn public_name(name: &str) -> Option<&'static str> {
    NAMES.iter().find(|(own, _)| *own == name).map(|(_, public)| *public)
}

/// A file that is being generated.
struct TypescriptFile<'a> {
    types: &'a PublicTypes,
    /// The types that it declares.
    names: BTreeSet<String>,
    /// The types that it names.
    used: BTreeSet<String>,
    out: String,
}

/// The text of a type; all lines but the first are indented.
struct TypeText {
    text: String,
    /// True if it needs brackets where `[]` follows.
    is_union: bool,
}

impl TypeText {
    fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_union: false }
    }
}

impl TypescriptFile<'_> {
    fn get(&self, name: &str) -> Option<TypeSchema> {
        let is_given = GIVEN.contains(&name);
        if is_given { self.types.given(name) } else { self.types.written(name) }.cloned()
    }

    /// Declares a type, then those that it names and that no file has.
    fn add(&mut self, name: &str, places: &BTreeMap<String, String>) {
        let Some(public) = public_name(name) else { return };
        if places.contains_key(public) || !self.names.insert(public.to_owned()) {
            return;
        }
        let Some(own) = self.get(name) else { return };
        let named = self.used.clone();
        self.declare(&own, public);
        let new: Vec<String> = self.used.difference(&named).cloned().collect();
        for public in new {
            if let Some((name, _)) = NAMES.iter().find(|(_, known)| *known == public) {
                self.add(name, places);
            }
        }
    }

    fn declare(&mut self, own: &TypeSchema, public: &str) {
        self.out.push('\n');
        match &own.body {
            TypeBody::Object(object) => {
                if self.declare_tagged(own, object, public) {
                    return;
                }
                let fields = self.fields(object, 2);
                self.out += &comment(&own.docs, 0);
                self.out += &format!("export interface {public} {{\n{fields}}}\n");
            }
            TypeBody::Choice(choice) => {
                let text = self.choice(&own.name, choice, 0, true);
                self.out += &comment(&own.docs, 0);
                let gap = if text.text.starts_with('\n') { "" } else { " " };
                self.out += &format!("export type {public} ={gap}{};\n", text.text);
            }
        }
    }

    /// Declares an object whose kind is given by its fields: an interface with the fields of all
    /// kinds, one for each kind, and their union. Returns whether it is such an object.
    fn declare_tagged(&mut self, own: &TypeSchema, object: &ObjectSchema, public: &str) -> bool {
        let kinds = object.fields.iter().find(|field| field.presence == FieldPresence::Flattened);
        let Some(ValueSchema::Defined(kinds)) = kinds.map(|field| &field.value) else {
            return false;
        };
        let Some(TypeBody::Choice(choice)) = self.get(kinds).map(|kinds| kinds.body) else {
            return false;
        };
        let ChoiceForm::Tagged(tag) = choice.form else { return false };
        self.names.insert("Stamp".to_owned());
        let fields = self.fields(object, 2);
        self.out += &comment("What every event has.", 0);
        self.out += &format!("export interface Stamp {{\n{fields}}}\n");
        let mut names = Vec::new();
        for variant in &choice.variants {
            let known = EVENT_NAMES.iter().find(|(kind, _)| *kind == variant.name);
            let name = known.map_or_else(|| camel(&variant.name), |(_, name)| (*name).to_owned());
            let fields = self.tagged(tag, variant, 2);
            self.out += &format!(
                "\n{}export interface {name} extends Stamp {{\n{fields}}}\n",
                comment(&variant.docs, 0)
            );
            self.names.insert(name.clone());
            names.push(name);
        }
        let docs = format!("{} Told apart by `{tag}`.", own.docs);
        let union = names.iter().map(|name| format!("\n  | {name}"));
        self.out += &format!(
            "\n{}export type {public} ={};\n",
            comment(&docs, 0),
            union.collect::<String>()
        );
        true
    }

    /// Returns the fields of a kind, behind its tag.
    fn tagged(&mut self, tag: &str, variant: &VariantSchema, indent: usize) -> String {
        let first = format!("{}{tag}: {};\n", " ".repeat(indent), literal(&variant.name));
        let object = match &variant.content {
            VariantContent::Object(object) => object.clone(),
            VariantContent::Value(ValueSchema::Defined(name)) => {
                match self.get(name).map(|own| own.body) {
                    Some(TypeBody::Object(object)) => object,
                    _ => ObjectSchema::default(),
                }
            }
            _ => ObjectSchema::default(),
        };
        first + &self.fields(&object, indent)
    }

    fn fields(&mut self, object: &ObjectSchema, indent: usize) -> String {
        let mut lines = String::new();
        for field in &object.fields {
            let mark = match field.presence {
                FieldPresence::Flattened => continue,
                FieldPresence::Optional => "?",
                FieldPresence::Required => "",
            };
            let value = self.value(&field.value, indent);
            lines += &comment(&field.docs, indent);
            lines += &text::field(&format!("{}{mark}", field.name), &value.text, indent);
        }
        lines
    }

    fn value(&mut self, value: &ValueSchema, indent: usize) -> TypeText {
        match value {
            ValueSchema::Any => TypeText::plain("unknown"),
            ValueSchema::Bool => TypeText::plain("boolean"),
            ValueSchema::Number | ValueSchema::Integer { .. } => TypeText::plain("number"),
            ValueSchema::Text | ValueSchema::Base64 => TypeText::plain("string"),
            ValueSchema::Names(names) => {
                let names: Vec<String> = names.iter().map(|name| literal(name)).collect();
                TypeText { text: names.join(" | "), is_union: true }
            }
            ValueSchema::Nullable(inner) => {
                let inner = self.value(inner, indent);
                let gap = if inner.text.starts_with('\n') { "\n" } else { "" };
                let null = match gap {
                    "" => " | null".to_owned(),
                    _ => format!("\n{}| null", " ".repeat(indent + 2)),
                };
                TypeText { text: inner.text + &null, is_union: true }
            }
            ValueSchema::Array(item) => {
                let item = self.value(item, indent);
                let bracketed = if item.is_union { format!("({})", item.text) } else { item.text };
                TypeText::plain(format!("{bracketed}[]"))
            }
            ValueSchema::Pair(of) => {
                let (first, second) = (self.value(&of.0, indent), self.value(&of.1, indent));
                TypeText::plain(format!("[{}, {}]", first.text, second.text))
            }
            ValueSchema::Map(inner) => {
                let inner = self.value(inner, indent);
                TypeText::plain(format!("Record<string, {}>", inner.text))
            }
            ValueSchema::Patch(of) => {
                self.used.insert("Patch".to_owned());
                let of = self.value(of, indent);
                TypeText::plain(format!("Patch<{}>", of.text))
            }
            ValueSchema::Defined(name) => self.defined(name, indent),
        }
    }

    /// Returns a type by its name, or written out if it has none.
    fn defined(&mut self, name: &str, indent: usize) -> TypeText {
        if let Some(public) = public_name(name) {
            self.used.insert(public.to_owned());
            return TypeText::plain(public);
        }
        match self.get(name).map(|own| own.body) {
            Some(TypeBody::Object(object)) => TypeText::plain(self.object(&object, indent)),
            Some(TypeBody::Choice(choice)) => self.choice(name, &choice, indent, false),
            None => TypeText::plain("unknown"),
        }
    }

    fn object(&mut self, object: &ObjectSchema, indent: usize) -> String {
        let fields = self.fields(object, indent + 2);
        format!("{{\n{fields}{}}}", " ".repeat(indent))
    }

    /// Returns the union of several kinds; with `is_told` each is on a line of its own, with its
    /// documentation.
    fn choice(
        &mut self,
        name: &str,
        choice: &ChoiceSchema,
        indent: usize,
        is_told: bool,
    ) -> TypeText {
        let (units, keyed): (Vec<_>, Vec<_>) = choice.variants.iter().partition(|own| {
            choice.form == ChoiceForm::Named && own.content == VariantContent::Unit
        });
        if ONE_OF.contains(&name) && units.is_empty() {
            return TypeText::plain(self.one_of(&keyed, indent));
        }
        let mut members: Vec<(String, String)> =
            units.into_iter().map(|own| (own.docs.to_string(), literal(&own.name))).collect();
        if ONE_OF.contains(&name) {
            members.push((String::new(), self.one_of(&keyed, indent + 4)));
        } else {
            for variant in keyed {
                let text = self.member(choice.form, variant, indent + 4);
                members.push((variant.docs.to_string(), text));
            }
        }
        if is_told {
            return TypeText { text: broken(&members, indent + 2), is_union: true };
        }
        // Biome has no place for comments within a field's type.
        let members: Vec<_> = members.into_iter().map(|(_, text)| (String::new(), text)).collect();
        if members.iter().any(|(_, text)| text.contains('\n')) {
            return TypeText { text: broken(&members, indent + 2), is_union: true };
        }
        let texts: Vec<String> = members.into_iter().map(|(_, text)| text).collect();
        TypeText { text: texts.join(" | "), is_union: true }
    }

    fn one_of(&mut self, variants: &[&VariantSchema], indent: usize) -> String {
        self.used.insert("OneOf".to_owned());
        let mut fields = String::new();
        for variant in variants {
            let text = self.content(&variant.content, indent + 2);
            fields += &comment(&variant.docs, indent + 2);
            fields += &text::field(&variant.name, &text, indent + 2);
        }
        format!("OneOf<{{\n{fields}{}}}>", " ".repeat(indent))
    }

    /// Returns a kind, on a line that begins with `| ` that far to the left of `indent`.
    fn member(&mut self, form: ChoiceForm, variant: &VariantSchema, indent: usize) -> String {
        match form {
            ChoiceForm::Tagged(tag) => {
                let fields = self.tagged(tag, variant, indent + 2);
                format!("{{\n{fields}{}}}", " ".repeat(indent))
            }
            ChoiceForm::Untagged => self.content(&variant.content, indent),
            ChoiceForm::Named | ChoiceForm::Keyed => {
                let text = self.content(&variant.content, indent + 2);
                let short = format!("{{ {}: {text} }}", variant.name);
                if !text.contains('\n') && indent + short.len() < 100 {
                    return short;
                }
                let field = text::field(&variant.name, &text, indent + 2);
                format!("{{\n{field}{}}}", " ".repeat(indent))
            }
        }
    }

    fn content(&mut self, content: &VariantContent, indent: usize) -> String {
        match content {
            VariantContent::Unit => "null".to_owned(),
            VariantContent::Value(value) => self.value(value, indent).text,
            VariantContent::Object(object) => self.object(object, indent),
        }
    }
}
