//! Bytes of request and response bodies, readable in a log: a JSON string if they are UTF-8,
//! otherwise base64. The two forms cannot be confused, and each body has only one form, so that a
//! log is rewritten with the same bytes.

use alloc::{vec, vec::Vec};
#[cfg(feature = "schema")]
use innerloop_json::schema::{self, WriteSchema};
use innerloop_json::{
    Error, FromJson, JsonFault, Reader, ToJson, ValueKind, Writer,
    base64::{decoded, encoded},
    bridge_deserialize, bridge_serialize, hand_schema,
};

/// The key of the object that represents bytes that are not UTF-8.
const BASE64: &str = "base64";

/// Bytes of a request or response body. As JSON: `"text"` or `{"base64": "…"}`.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct BodyBytes(pub Vec<u8>);

impl core::fmt::Debug for BodyBytes {
    // Derived, it would print bodies as lists of numbers in failing tests.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match core::str::from_utf8(&self.0) {
            Ok(text) => write!(f, "{text:?}"),
            Err(_) => write!(f, "{:?}", self.0),
        }
    }
}

impl From<Vec<u8>> for BodyBytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl From<&str> for BodyBytes {
    fn from(text: &str) -> Self {
        Self(text.as_bytes().into())
    }
}

impl core::ops::Deref for BodyBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl ToJson for BodyBytes {
    fn write(&self, writer: &mut Writer) {
        match core::str::from_utf8(&self.0) {
            Ok(text) => writer.string(text),
            // A piece of a body is cut anywhere, so that even a text may end in the middle of a
            // character: a lossy string would change the bytes that are replayed.
            Err(_) => {
                writer.object();
                writer.key(BASE64);
                writer.string(&encoded(&self.0));
                writer.end_object();
            }
        }
    }
}

impl<'a> FromJson<'a> for BodyBytes {
    fn blank() -> Self {
        Self::default()
    }

    fn fill(&mut self, reader: &mut Reader<'a>) -> Result<(), Error> {
        if reader.kind()? == ValueKind::String {
            self.0 = reader.string()?.into_owned().into_bytes();
            return Ok(());
        }
        let mut text = None;
        reader.object()?;
        while let Some(name) = reader.key()? {
            // A key that is given twice is refused like an unknown one: nobody could say which
            // value counts.
            if name == BASE64 && text.is_none() {
                text = Some(reader.string()?);
            } else {
                return Err(reader
                    .fault(JsonFault::UnknownField { name: name.into(), known: vec![BASE64] }));
            }
        }
        let Some(text) = text else {
            return Err(reader.fault(JsonFault::MissingField { name: BASE64.into() }));
        };
        self.0 = decoded(&text).ok_or_else(|| reader.error("invalid base64"))?;
        Ok(())
    }
}

bridge_serialize!([] BodyBytes);
bridge_deserialize!(BodyBytes);
hand_schema!(BodyBytes, described);

/// The object that represents bytes that are not UTF-8.
#[cfg(feature = "schema")]
#[derive(ToJson)]
struct EncodedBytes {
    /// The bytes in base64.
    #[json(like = "schema::Base64Text")]
    base64: alloc::string::String,
}

#[cfg(feature = "schema")]
fn described(table: &mut schema::SchemaTable) -> schema::ValueSchema {
    table.define_either(
        module_path!(),
        "BodyBytes",
        "Bytes: a text where they are UTF-8.",
        |table| [schema::ValueSchema::Text, EncodedBytes::write_schema(table)].into(),
    )
}
