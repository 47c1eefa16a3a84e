//! A tool that is an async function: `cargo run --example own_tool`.

use innerloop::{Agent, JsonSchema, OwnToolCall, Tool};

mod common;

#[derive(serde::Deserialize, JsonSchema)]
struct Weather {
    /// The city, with its country.
    city: String,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let temperature = Tool::new(
        "temperature",
        "The temperature in a city, in degrees Celsius.",
        async |weather: Weather, call: OwnToolCall| {
            call.say("asking the weather service\n");
            // The model reads the error, and may ask for another city.
            match weather.city.as_str() {
                "Oslo, Norway" => Ok("7"),
                city => Err(format!("there is no city {city}")),
            }
        },
    )
    .read_only();

    let builder = Agent::builder().tool(temperature);
    let agent = common::model(builder, "own_tool").build().await?;
    let result = agent.run("Do I need a coat in Oslo?").await?;
    println!("{}", result.text);
    Ok(())
}
