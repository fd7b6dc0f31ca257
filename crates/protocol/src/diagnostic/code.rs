//! What is made of the catalogue: one enum, and what each of its codes says.

macro_rules! codes {
    ($($variant:ident $id:literal $family:ident $severity:ident $meaning:literal, $hint:literal;)*) => {
        /// A stable code. Its text form is what documents, `--json` and exit messages carry.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Code {
            $(#[doc = $meaning] #[serde(rename = $id)] $variant,)*
        }

        /// Every code, in the order of this file.
        pub const CATALOGUE: &[Code] = &[$(Code::$variant,)*];

        impl Code {
            /// The text form.
            pub fn id(self) -> &'static str {
                match self { $(Code::$variant => $id,)* }
            }

            /// Where it is used.
            pub fn family(self) -> Family {
                match self { $(Code::$variant => Family::$family,)* }
            }

            /// How much it weighs.
            pub fn severity(self) -> Severity {
                match self { $(Code::$variant => Severity::$severity,)* }
            }

            /// What it means, whatever the case.
            pub fn meaning(self) -> &'static str {
                match self { $(Code::$variant => $meaning,)* }
            }

            /// What to do, whatever the case.
            pub fn hint(self) -> &'static str {
                match self { $(Code::$variant => $hint,)* }
            }
        }
    };
}
