/// What reads and writes JSON for a plugin in Rust.
enum RustJSONTemplate {
    /// `src/json.rs`.
    static let source = ##"""
        //! JSON (RFC 8259), as far as the calls of a plugin need it.

        use std::fmt::{self, Display, Formatter};

        #[derive(Clone, Debug, PartialEq)]
        pub enum Json {
            Null,
            Bool(bool),
            Number(f64),
            Text(String),
            Array(Vec<Json>),
            Object(Vec<(String, Json)>),
        }

        impl From<&str> for Json {
            fn from(text: &str) -> Self {
                Json::Text(text.into())
            }
        }

        impl Json {
            pub fn object<const COUNT: usize>(members: [(&str, Json); COUNT]) -> Json {
                Json::Object(members.into_iter().map(|(name, value)| (name.into(), value)).collect())
            }

            /// A member of an object; `None` where it is absent or null.
            pub fn member(&self, name: &str) -> Option<&Json> {
                let Json::Object(members) = self else { return None };
                let found = members.iter().find(|member| member.0 == name)?;
                if found.1 == Json::Null { None } else { Some(&found.1) }
            }

            pub fn text(&self, name: &str) -> Option<&str> {
                if let Some(Json::Text(text)) = self.member(name) { Some(text) } else { None }
            }

            pub fn number(&self, name: &str) -> Option<f64> {
                if let Some(Json::Number(number)) = self.member(name) { Some(*number) } else { None }
            }

            pub fn items(&self, name: &str) -> &[Json] {
                if let Some(Json::Array(items)) = self.member(name) { items } else { &[] }
            }

            /// Reads a text; `None` where it is not JSON, or nested more than a hundred deep.
            pub fn parse(text: &[u8]) -> Option<Json> {
                let mut reader = Reader { bytes: text, place: 0 };
                let value = reader.value(100)?;
                reader.skip();
                (reader.place == text.len()).then_some(value)
            }
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
