//! The types of the Python package: `TypedDict`s, in modules of which each imports only those
//! before it.

mod text;

use crate::{
    docs::camel,
    patches::patches,
    types::{MadeFile, ModulePlan, PublicTypes},
};
use innerloop_json::schema::{
    ChoiceForm, ChoiceSchema, FieldPresence, FieldSchema, ObjectSchema, SchemaTable, TypeBody,
    TypeSchema, ValueSchema, VariantContent, VariantSchema,
};
use std::collections::{BTreeMap, BTreeSet};
use text::{alias, class, literals, text_after};

/// The names in Python of types that are called otherwise inside their module.
const NAMES: [(&str, &str); 13] = [
    ("AnswerLine", "Line"),
    ("Effect", "SessionEffect"),
    ("SetupSpec", "Parts"),
    ("DocsRequest", "DocFiles"),
    ("LineEffect", "Effect"),
    ("LogLine", "LogEntry"),
    ("EndpointSpec", "Endpoint"),
    ("ReplaySpec", "Recording"),
    ("LineHttpRequest", "SentRequest"),
    ("LineRequest", "Request"),
    // The package has an exception named `ToolError`.
    ("ToolError", "ToolErrorName"),
    ("ConfigRequest", "Settings"),
    ("VisibleTurn", "SeenTurn"),
];
/// The types that are declared as they may be given, not as they are written.
const GIVEN: [&str; 10] = [
    "Command",
    "TurnOptions",
    "HttpInput",
    "ResponseHead",
    "ToolSpec",
    "CustomCommand",
    "PendingAsks",
    "ApprovalRule",
    "EnvironmentFacts",
    "GitFacts",
];

const PLANS: [ModulePlan; 12] = [
    ModulePlan {
        path: "python/innerloop/protocol/data.py",
        about: "What inputs, effects, events and the history hold.",
        roots: &["Part", "Outcome", "Status", "ContextUsage", "RunEnd", "ErrorKind"],
    },
    ModulePlan {
        path: "python/innerloop/protocol/action.py",
        about: "What built-in tools do.",
        roots: &["Action", "ToolRun"],
    },
    ModulePlan {
        path: "python/innerloop/protocol/history.py",
        about: "What was said.",
        roots: &["Turn", "VisibleTurn"],
    },
    ModulePlan {
        path: "python/innerloop/protocol/model.py",
        about: "Which model a session has, and how to talk to it.",
        roots: &["ModelConfig"],
    },
    ModulePlan {
        path: "python/innerloop/protocol/config.py",
        about: "What a session is opened with.",
        roots: &["SessionConfig", "ConfigPreset"],
    },
    ModulePlan {
        path: "python/innerloop/protocol/parts.py",
        about: "What a session's driver works with, and what it knows.",
        roots: &["SetupSpec", "Provider", "DocsAnswer", "UndoneAnswer"],
    },
    ModulePlan {
        path: "python/innerloop/protocol/patch.py",
        about: "Merge patches of the configuration.",
        roots: &["SessionConfigPatch"],
    },
    ModulePlan {
        path: "python/innerloop/protocol/events.py",
        about: "Things to know.",
        roots: &["Event"],
    },
    ModulePlan {
        path: "python/innerloop/protocol/inputs.py",
        about: "What goes into a session, and why it may be refused.",
        roots: &["Input", "RejectionReason"],
    },
    ModulePlan {
        path: "python/innerloop/protocol/effects.py",
        about: "Things to do.",
        roots: &["LineEffect", "Output"],
    },
    ModulePlan {
        path: "python/innerloop/protocol/lines.py",
        about: "Requests to sessions, and the lines of their answers.",
        roots: &["LineRequest", "AnswerLine"],
    },
    ModulePlan {
        path: "python/innerloop/protocol/commands.py",
        about: "What people type, as commands, answers and texts.",
        roots: &["CommandWord", "CustomCommand", "PendingAsks"],
    },
];
const MADE: &str = "Made of the core's types, whose words these are: see \
                    CONTRIBUTING.md#generated-files.";

/// Returns the generated modules of the package.
pub(crate) fn files(types: &PublicTypes) -> Vec<MadeFile> {
    let patches = patches(&types.read, "SessionConfig");
    let mut places = BTreeMap::new();
    let mut made = Vec::new();
    for plan in &PLANS {
        let mut module = PythonModule::new(types, &patches, &places);
        for root in plan.roots {
            module.add(root);
        }
        let name = plan.path.rsplit('/').next().unwrap_or_default().replace(".py", "");
        let PythonModule { names, used, body, .. } = module;
        for own in &names {
            places.insert(own.clone(), name.clone());
        }
        let imports = text::imports(&used, &places, &name);
        let head = text::head(&format!("{} {MADE}", plan.about), &imports, &body);
        let text = format!("{head}{body}");
        made.push(MadeFile { path: plan.path, text });
    }
    let text = text::package(&format!("The protocol's JSON. {MADE}"), &places);
    made.push(MadeFile { path: "python/innerloop/protocol/__init__.py", text });
    made
}

fn python_name(name: &str) -> String {
    let known = NAMES.iter().find(|(own, _)| *own == name);
    known.map_or(name, |(_, name)| name).to_owned()
}

/// A module that is being generated.
struct PythonModule<'a> {
    types: &'a PublicTypes,
    patches: &'a SchemaTable,
    /// The modules that are done, by the names that they declare.
    places: &'a BTreeMap<String, String>,
    /// The names that it declares.
    names: BTreeSet<String>,
    /// The names that it uses.
    used: BTreeSet<String>,
    /// The types that it names and has not reached yet.
    wanted: Vec<String>,
    body: String,
}

impl<'a> PythonModule<'a> {
    fn new(
        types: &'a PublicTypes,
        patches: &'a SchemaTable,
        places: &'a BTreeMap<String, String>,
    ) -> Self {
        let (names, used) = (BTreeSet::new(), BTreeSet::new());
        Self { types, patches, places, names, used, wanted: Vec::new(), body: String::new() }
    }

    fn get(&self, name: &str) -> Option<TypeSchema> {
        let own = match GIVEN.contains(&name) {
            true => self.types.given(name),
            false => self.types.written(name),
        };
        self.patches.get(name).or(own).cloned()
    }

    /// Declares a type, then those that it names and that no module has.
    fn add(&mut self, root: &str) {
        let before = std::mem::replace(&mut self.wanted, vec![root.to_owned()]);
        while let Some(name) = self.wanted.pop() {
            let own_name = python_name(&name);
            let is_known = self.places.contains_key(&own_name) || self.names.contains(&own_name);
            if let Some(own) = self.get(&name).filter(|_| !is_known) {
                let before = std::mem::take(&mut self.wanted);
                self.declare(&own, &own_name);
                // They are taken from the end, and the first that is named is declared first.
                self.wanted.reverse();
                self.wanted.splice(0..0, before);
            }
        }
        self.wanted = before;
    }

    fn declare(&mut self, own: &TypeSchema, name: &str) {
        match &own.body {
            TypeBody::Object(object) => {
                if !self.declare_stamped(own, object, name) {
                    self.object(name, &own.docs, "TypedDict", None, object);
                }
            }
            TypeBody::Choice(choice) => self.choice(name, &own.docs, choice),
        }
    }

    /// Writes a class with the fields of an object, behind a tag if there is one.
    fn object(
        &mut self,
        name: &str,
        docs: &str,
        base: &str,
        tag: Option<(&str, &str)>,
        object: &ObjectSchema,
    ) {
        let tag = tag.map(|(tag, value)| (tag.to_owned(), literals(&[value]), String::new(), true));
        let mut fields: Vec<_> = tag.into_iter().collect();
        for FieldSchema { name, docs, value, presence } in &object.fields {
            let is_required = match presence {
                FieldPresence::Flattened => continue,
                FieldPresence::Required => true,
                FieldPresence::Optional => false,
            };
            fields.push((name.to_string(), self.value(value), docs.to_string(), is_required));
        }
        self.names.insert(name.to_owned());
        self.body += &class(name, docs, base, &fields);
    }

    /// Declares an object whose kind is given by its fields: a class with the fields of all kinds,
    /// one for each kind, and their union. Returns whether it is such an object.
    fn declare_stamped(&mut self, own: &TypeSchema, object: &ObjectSchema, name: &str) -> bool {
        let kinds = object.fields.iter().find(|field| field.presence == FieldPresence::Flattened);
        let Some(ValueSchema::Defined(kinds)) = kinds.map(|field| &field.value) else {
            return false;
        };
        let Some(TypeBody::Choice(choice)) = self.get(kinds).map(|kinds| kinds.body) else {
            return false;
        };
        let ChoiceForm::Tagged(tag) = choice.form else { return false };
        let stamp = format!("{name}Stamp");
        self.object(&stamp, "What every event has.", "TypedDict", None, object);
        let docs = format!("{} Told apart by `{tag}`.", own.docs);
        self.tagged(name, &docs, tag, &choice.variants, &stamp);
        true
    }

    /// Writes a class for each kind, and their union.
    fn tagged(
        &mut self,
        name: &str,
        docs: &str,
        tag: &str,
        variants: &[VariantSchema],
        base: &str,
    ) {
        let mut kinds = Vec::new();
        for variant in variants {
            let object = match &variant.content {
                VariantContent::Object(object) => object.clone(),
                VariantContent::Value(ValueSchema::Defined(inner)) => {
                    match self.get(inner).map(|own| own.body) {
                        Some(TypeBody::Object(object)) => object,
                        _ => ObjectSchema::default(),
                    }
                }
                _ => ObjectSchema::default(),
            };
            let kind = format!("{name}{}", camel(&variant.name));
            self.object(&kind, &variant.docs, base, Some((tag, &variant.name)), &object);
            kinds.push(kind);
        }
        self.alias(name, &kinds, docs);
    }

    fn alias(&mut self, name: &str, kinds: &[String], docs: &str) {
        self.names.insert(name.to_owned());
        self.body += &alias(name, kinds);
        self.body += &text_after(docs);
    }

    fn choice(&mut self, name: &str, docs: &str, choice: &ChoiceSchema) {
        let (units, keyed): (Vec<_>, Vec<_>) = choice.variants.iter().partition(|own| {
            choice.form == ChoiceForm::Named && own.content == VariantContent::Unit
        });
        match choice.form {
            ChoiceForm::Tagged(tag) => self.tagged(name, docs, tag, &choice.variants, "TypedDict"),
            ChoiceForm::Untagged => {
                let mut kinds = Vec::new();
                for variant in &choice.variants {
                    kinds.push(self.content(name, variant));
                    // Python evaluates the alias when the module is loaded, so that its names must
                    // be declared before it.
                    if let VariantContent::Value(ValueSchema::Defined(inner)) = &variant.content {
                        self.add(inner);
                    }
                }
                self.alias(name, &kinds, docs);
            }
            ChoiceForm::Named | ChoiceForm::Keyed if units.is_empty() => {
                let docs = format!("{docs} Exactly one of these keys is there.");
                self.keyed(name, &docs, &keyed);
            }
            ChoiceForm::Named | ChoiceForm::Keyed => {
                let names: Vec<&str> = units.iter().map(|own| own.name.as_ref()).collect();
                let mut kinds = vec![literals(&names)];
                if !keyed.is_empty() {
                    let object = format!("{name}Object");
                    self.keyed(&object, "Exactly one of these keys is there.", &keyed);
                    kinds.push(object);
                }
                let words = units.iter().filter(|own| !own.docs.is_empty());
                let words = words.map(|own| format!("\n- `{}`: {}", own.name, own.docs));
                self.alias(name, &kinds, &format!("{docs}\n{}", words.collect::<String>()));
            }
        }
    }

    /// Writes a class of which one field is present.
    fn keyed(&mut self, name: &str, docs: &str, variants: &[&VariantSchema]) {
        let fields: Vec<_> = variants
            .iter()
            .map(|variant| {
                let value = self.content(name, variant);
                (variant.name.to_string(), value, variant.docs.to_string(), false)
            })
            .collect();
        self.names.insert(name.to_owned());
        self.body += &class(name, docs, "TypedDict", &fields);
    }

    fn content(&mut self, name: &str, variant: &VariantSchema) -> String {
        match &variant.content {
            VariantContent::Unit => "None".to_owned(),
            VariantContent::Value(value) => self.value(value),
            VariantContent::Object(object) => {
                let first = object.fields.first().map(|field| field.name.as_ref());
                let own = if variant.name.is_empty() { first } else { Some(variant.name.as_ref()) };
                let kind = format!("{name}{}", camel(own.unwrap_or_default()));
                self.object(&kind, &variant.docs, "TypedDict", None, object);
                kind
            }
        }
    }

    fn value(&mut self, value: &ValueSchema) -> String {
        match value {
            ValueSchema::Any => "Any".to_owned(),
            ValueSchema::Bool => "bool".to_owned(),
            ValueSchema::Number => "float".to_owned(),
            ValueSchema::Integer { .. } => "int".to_owned(),
            ValueSchema::Text | ValueSchema::Base64 => "str".to_owned(),
            ValueSchema::Names(names) => literals(names),
            ValueSchema::Nullable(inner) => format!("{} | None", self.value(inner)),
            ValueSchema::Array(item) => format!("list[{}]", self.value(item)),
            // JSON has no tuples: Python's reader returns a list.
            ValueSchema::Pair(of) => match of.0 == of.1 {
                true => format!("list[{}]", self.value(&of.0)),
                false => format!("list[{} | {}]", self.value(&of.0), self.value(&of.1)),
            },
            ValueSchema::Map(inner) => format!("dict[str, {}]", self.value(inner)),
            ValueSchema::Patch(of) => match &**of {
                ValueSchema::Defined(name) => {
                    self.value(&ValueSchema::Defined(crate::patches::patch_name(name).into()))
                }
                _ => "dict[str, Any]".to_owned(),
            },
            ValueSchema::Defined(name) => {
                let public = python_name(name);
                self.used.insert(public.clone());
                self.wanted.push(name.to_string());
                public
            }
        }
    }
}
