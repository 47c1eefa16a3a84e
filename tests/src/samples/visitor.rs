//! How samples are written down, and who they are handed to.

use innerloop_core::json::{FromJson, ToJson};
use serde::{Serialize, de::DeserializeOwned};
use std::fmt::Debug;

/// The samples of an enum, one for each variant in a list of all: `Type: A, B { … }, C(…)`. After
/// `open`, the enum is one that no other crate may match whole.
macro_rules! one_of_each {
    (open $type:ident: $($samples:tt)+) => {
        one_of_each!(@ [_ => ()] $type: $($samples)+)
    };
    ($type:ident: $($samples:tt)+) => {
        one_of_each!(@ [] $type: $($samples)+)
    };
    (@ [$($others:tt)*]
        $type:ident: $($variant:ident $({ $($fields:tt)* })? $(( $($values:tt)* ))?),+ $(,)?
    ) => {{
        let _complete = |value: &$type| match value {
            $($type::$variant { .. } => (),)+
            $($others)*
        };
        vec![$($type::$variant $({ $($fields)* })? $(( $($values)* ))?),+]
    }};
}
pub(super) use one_of_each;

/// What is done with the samples.
pub trait Visitor {
    /// Takes the samples of a type that is read, too.
    fn visit_read<T>(&mut self, name: &str, samples: &[T])
    where
        T: Serialize + DeserializeOwned + ToJson + Clone + Debug + PartialEq,
        T: for<'a> FromJson<'a>,
    {
        self.visit(name, samples);
    }

    /// Takes the samples of a type.
    fn visit<T: Serialize + ToJson + Clone + Debug + PartialEq>(
        &mut self,
        name: &str,
        samples: &[T],
    );
}
