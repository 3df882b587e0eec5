/// What reads and writes JSON for a plugin in Rust.
enum RustJSONTemplate {
    /// `src/json.rs`.
    static let source = ##"""
        //! JSON (RFC 8259), as far as the calls of a plugin need it.
        #![allow(dead_code)] // A plugin uses what it needs.

        use std::fmt::{self, Display, Formatter};
        use std::ops::Index;
        use std::time::{SystemTime, UNIX_EPOCH};

        #[derive(Clone, Debug, PartialEq)]
        pub enum Json {
            Null,
            Bool(bool),
            Number(f64),
            Text(String),
            Array(Vec<Json>),
            Object(Vec<(String, Json)>),
        }

        /// An object, from names and values: `object! {"min": -1, "title": "Likes"}`.
        macro_rules! object {
            ($($name:tt: $value:expr),* $(,)?) => {
                $crate::json::Json::Object(vec![$(($name.into(), $crate::json::Json::from($value))),*])
            };
        }
        pub(crate) use object;

        /// A member of an object, null where it is absent: `call["settings"]["links"]`.
        impl Index<&str> for Json {
            type Output = Json;

            fn index(&self, name: &str) -> &Json {
                match self {
                    Json::Object(members) => {
                        members.iter().find(|member| member.0 == name).map_or(&Json::Null, |member| &member.1)
                    }
                    _ => &Json::Null,
                }
            }
        }

        impl Json {
            pub fn text(&self) -> Option<&str> {
                match self {
                    Json::Text(text) => Some(text),
                    _ => None,
                }
            }

            pub fn number(&self) -> Option<f64> {
                match self {
                    Json::Number(number) => Some(*number),
                    _ => None,
                }
            }

            pub fn is_true(&self) -> bool {
                *self == Json::Bool(true)
            }

            /// The elements of a list.
            pub fn items(&self) -> &[Json] {
                match self {
                    Json::Array(items) => items,
                    _ => &[],
                }
            }

            /// Reads a text; `None` where it is not JSON, or nested more than a hundred deep.
            pub fn parse(text: &[u8]) -> Option<Json> {
                let mut reader = Reader { bytes: text, place: 0 };
                let value = reader.value(100)?;
                reader.skip();
                (reader.place == text.len()).then_some(value)
            }
        }

        /// What `object!` takes as values.
        macro_rules! conversions {
            ($($type:ty, $value:ident => $json:expr;)*) => {
                $(impl From<$type> for Json {
                    fn from($value: $type) -> Json {
                        $json
                    }
                })*
            };
        }

        conversions! {
            bool, value => Json::Bool(value);
            i32, value => Json::Number(value.into());
            u64, value => Json::Number(value as f64);
            f64, value => Json::Number(value);
            &str, value => Json::Text(value.into());
            String, value => Json::Text(value);
            Vec<Json>, value => Json::Array(value);
        }

        impl<Value: Into<Json>> From<Option<Value>> for Json {
            fn from(value: Option<Value>) -> Json {
                value.map_or(Json::Null, Into::into)
            }
        }

        /// A time as fields have it (RFC 3339); `None` before 1970.
        pub fn time_text(time: SystemTime) -> Option<String> {
            let seconds = time.duration_since(UNIX_EPOCH).ok()?.as_secs();
            let length = |year: u64, month: usize| match month {
                1 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
                _ => [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month],
            };
            let (mut year, mut month, mut day) = (1970, 0, seconds / 86_400);
            while day >= length(year, month) {
                day -= length(year, month);
                (year, month) = if month < 11 { (year, month + 1) } else { (year + 1, 0) };
                if year > 9999 {
                    return None;
                }
            }
            let (hour, minute, second) = (seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60);
            Some(format!("{year}-{:02}-{:02}T{hour:02}:{minute:02}:{second:02}Z", month + 1, day + 1))
        }

        struct Reader<'a> {
            bytes: &'a [u8],
            place: usize,
        }

        impl Reader<'_> {
            fn skip(&mut self) {
                while matches!(self.bytes.get(self.place), Some(b' ' | b'\t' | b'\n' | b'\r')) {
                    self.place += 1;
                }
            }

            /// Takes a byte if it comes next, behind white space.
            fn take(&mut self, byte: u8) -> bool {
                self.skip();
                let found = self.bytes.get(self.place) == Some(&byte);
                self.place += usize::from(found);
                found
            }

            fn word(&mut self, word: &str, value: Json) -> Option<Json> {
                let found = self.bytes[self.place..].starts_with(word.as_bytes());
                self.place += word.len();
                found.then_some(value)
            }

            fn value(&mut self, depth: usize) -> Option<Json> {
                self.skip();
                let depth = depth.checked_sub(1)?;
                match *self.bytes.get(self.place)? {
                    b'n' => self.word("null", Json::Null),
                    b't' => self.word("true", Json::Bool(true)),
                    b'f' => self.word("false", Json::Bool(false)),
                    b'"' => self.string().map(Json::Text),
                    b'[' => {
                        self.place += 1;
                        let mut items = Vec::new();
                        if self.take(b']') {
                            return Some(Json::Array(items));
                        }
                        loop {
                            items.push(self.value(depth)?);
                            if self.take(b']') {
                                return Some(Json::Array(items));
                            }
                            self.take(b',').then_some(())?;
                        }
                    }
                    b'{' => {
                        self.place += 1;
                        let mut members = Vec::new();
                        if self.take(b'}') {
                            return Some(Json::Object(members));
                        }
                        loop {
                            self.skip();
                            let name = self.string()?;
                            self.take(b':').then_some(())?;
                            members.push((name, self.value(depth)?));
                            if self.take(b'}') {
                                return Some(Json::Object(members));
                            }
                            self.take(b',').then_some(())?;
                        }
                    }
                    _ => {
                        let start = self.place;
                        while matches!(self.bytes.get(self.place), Some(b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')) {
                            self.place += 1;
                        }
                        let text = std::str::from_utf8(&self.bytes[start..self.place]).ok()?;
                        text.parse().ok().map(Json::Number)
                    }
                }
            }

            fn string(&mut self) -> Option<String> {
                self.take(b'"').then_some(())?;
                let mut text = Vec::new();
                loop {
                    let byte = *self.bytes.get(self.place)?;
                    self.place += 1;
                    match byte {
                        b'"' => return String::from_utf8(text).ok(),
                        b'\\' => {
                            let mut buffer = [0; 4];
                            text.extend_from_slice(self.escaped()?.encode_utf8(&mut buffer).as_bytes());
                        }
                        0..=0x1f => return None,
                        _ => text.push(byte),
                    }
                }
            }

            fn escaped(&mut self) -> Option<char> {
                let byte = *self.bytes.get(self.place)?;
                self.place += 1;
                Some(match byte {
                    b'b' => '\u{8}',
                    b'f' => '\u{c}',
                    b'n' => '\n',
                    b'r' => '\r',
                    b't' => '\t',
                    b'u' => {
                        let first = self.unit()?;
                        if !(0xd800..0xdc00).contains(&first) {
                            return char::from_u32(first);
                        }
                        (self.bytes.get(self.place..self.place + 2)? == b"\\u").then_some(())?;
                        self.place += 2;
                        let second = self.unit()?.checked_sub(0xdc00)?;
                        return char::from_u32(0x10000 + ((first - 0xd800) << 10) + second);
                    }
                    b'"' | b'\\' | b'/' => char::from(byte),
                    _ => return None,
                })
            }

            /// One unit of UTF-16, as four digits.
            fn unit(&mut self) -> Option<u32> {
                let digits = self.bytes.get(self.place..self.place + 4)?;
                self.place += 4;
                u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
            }
        }

        impl Display for Json {
            fn fmt(&self, out: &mut Formatter) -> fmt::Result {
                match self {
                    Json::Null => write!(out, "null"),
                    Json::Bool(value) => write!(out, "{value}"),
                    // JSON has no number that is not finite.
                    Json::Number(number) if !number.is_finite() => write!(out, "null"),
                    Json::Number(number) => write!(out, "{number}"),
                    Json::Text(text) => quoted(out, text),
                    Json::Array(items) => {
                        write!(out, "[")?;
                        for (place, item) in items.iter().enumerate() {
                            write!(out, "{}{item}", if place > 0 { "," } else { "" })?;
                        }
                        write!(out, "]")
                    }
                    Json::Object(members) => {
                        out.write_str("{")?;
                        for (place, (name, value)) in members.iter().enumerate() {
                            write!(out, "{}", if place > 0 { "," } else { "" })?;
                            quoted(out, name)?;
                            write!(out, ":{value}")?;
                        }
                        out.write_str("}")
                    }
                }
            }
        }

        fn quoted(out: &mut Formatter, text: &str) -> fmt::Result {
            write!(out, "\"")?;
            for character in text.chars() {
                match character {
                    '"' | '\\' => write!(out, "\\{character}")?,
                    '\0'..='\x1f' => write!(out, "\\u{:04x}", character as u32)?,
                    _ => write!(out, "{character}")?,
                }
            }
            write!(out, "\"")
        }
        """##
}
