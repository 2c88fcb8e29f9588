//! Models to start from.

/// A model to start from.
pub struct Example {
    /// The name of its file, which says its language.
    pub name: &'static str,
    /// What it shows, in a few words.
    pub about: &'static str,
    /// Its text.
    pub text: &'static str,
}

macro_rules! examples {
    ($($path:literal $name:literal $about:literal,)*) => {
        &[$(Example {
            name: $name,
            about: $about,
            text: include_str!(concat!("../../../examples/", $path)),
        }),*]
    };
}

/// The models, the first of which a new page shows.
pub const EXAMPLES: &[Example] = examples![
    "banking/broken_account.sts" "broken_account.sts" "an account with a bug",
    "bank_account.sts" "bank_account.sts" "a first model",
    "banking/account_holder.sts" "account_holder.sts" "two control states",
    "banking/transfer.sts" "transfer.sts" "a transfer in two steps",
    "banking/money_movement.sts" "money_movement.sts" "money between accounts",
    "banking/triangle.sts" "triangle.sts" "numbers that grow",
    "banking/fibonacci.sts" "fibonacci.sts" "Fibonacci numbers",
    "banking/linear_loan.sts" "linear_loan.sts" "a loan with interest",
    "lustre/altitude_switch.lus" "altitude_switch.lus" "a switch of an aircraft",
    "script/truck.script" "truck.script" "a truck: reach a goal",
    "script/alternating_bit.script" "alternating_bit.script" "the alternating bit protocol",
    "script/robot.script" "robot.script" "a robot",
];
