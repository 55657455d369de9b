//! Exact numbers: decimals with up to twelve places, ratios compared without rounding.
//!
//! Rules compare these. A [`Score`] is rounded to six places, for output and for choosing several winners.

use std::cmp::Ordering;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Number;

const ONE: i128 = 1_000_000_000_000;

/// A parsed amount has at most six decimal places, so that the product of two is exact.
const MILLION: f64 = 1e6;

const LARGEST: f64 = 1e9;

/// Amount in units of 10⁻¹².
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Decimal(pub i128);

impl Decimal {
    pub const ZERO: Self = Self(0);
    pub const ONE: Self = Self(ONE);

    pub fn whole(number: u64) -> Self {
        Self(i128::from(number) * ONE)
    }

    /// Parses a decimal number of at most six places, at most 10⁹ in size.
    pub fn parse(text: &str) -> Option<Self> {
        let (amount, exact) = read(text)?;
        exact.then_some(amount)
    }

    /// Parses a decimal number and truncates it to six places.
    pub fn parse_cut(text: &str) -> Option<Self> {
        read(text).map(|(amount, _)| amount)
    }

    /// Converts a JSON number; `None` if it has more than six places.
    pub fn from_json(number: &Number) -> Option<Self> {
        Self::parse(&number.to_string())
    }

    /// Converts a weight by the shortest decimal that denotes this floating-point number.
    pub fn from_weight(weight: f64) -> Self {
        Self::parse_cut(&weight.to_string()).unwrap_or(Self::ONE)
    }

    /// Returns this amount times `count`.
    #[must_use]
    pub fn repeated(self, count: u64) -> Self {
        Self(self.0.saturating_mul(i128::from(count)))
    }

    /// Returns the product; exact for two parsed amounts.
    #[must_use]
    pub fn times(self, other: Self) -> Self {
        let half = 1_000_000;
        Self((self.0 / half).saturating_mul(other.0 / half))
    }

    #[must_use]
    pub fn midpoint(self, other: Self) -> Self {
        Self(i128::midpoint(self.0, other.0))
    }
}

impl std::ops::AddAssign for Decimal {
    fn add_assign(&mut self, other: Self) {
        self.0 = self.0.saturating_add(other.0);
    }
}

impl std::iter::Sum for Decimal {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        Self(amounts.fold(0, |sum, amount| sum.saturating_add(amount.0)))
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let units = self.0.unsigned_abs();
        let (whole, part) = (units / ONE.unsigned_abs(), units % ONE.unsigned_abs());
        if part == 0 {
            return write!(f, "{sign}{whole}");
        }
        let digits = format!("{part:012}");
        write!(f, "{sign}{whole}.{}", digits.trim_end_matches('0'))
    }
}

/// Parses a decimal truncated to six places; also returns whether nothing was cut off.
fn read(text: &str) -> Option<(Decimal, bool)> {
    let text = text.trim();
    let number: f64 = text.parse().ok().filter(|number: &f64| number.abs() <= LARGEST)?;
    let amount = |millionths: f64| Decimal(millionths as i128 * (ONE / 1_000_000));
    let digits = |text: &str| {
        let mantissa: String = text.split(['e', 'E']).take(1).collect();
        mantissa.replace(['.', '+', '-'], "").trim_matches('0').to_owned()
    };
    let nearest = amount((number * MILLION).round());
    let is_exact = digits(text) == digits(&nearest.to_string());
    Some((if is_exact { nearest } else { amount((number * MILLION).trunc()) }, is_exact))
}

/// Compares `a / b` with `c / d` without overflow; `b` and `d` must be positive.
pub fn compare_ratios(a: i128, b: i128, c: i128, d: i128) -> Ordering {
    let (left, right) = (a.div_euclid(b), c.div_euclid(d));
    left.cmp(&right).then_with(|| match (a.rem_euclid(b), c.rem_euclid(d)) {
        (0, 0) => Ordering::Equal,
        (0, _) => Ordering::Less,
        (_, 0) => Ordering::Greater,
        (left, right) => compare_ratios(d, right, b, left),
    })
}

/// Share such as `2/3` or `0.6667`, displayed as it was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Fraction {
    text: String,
    top: i128,
    bottom: i128,
}

impl Fraction {
    /// Parses `2/3`, `0.6667` or `66.67%`, above 0 and at most 1.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (top, bottom) = if let Some((top, bottom)) = text.split_once('/') {
            let whole = |text: &str| text.trim().parse::<u32>().ok().map(i128::from);
            (whole(top)?, whole(bottom)?)
        } else if let Some(percent) = text.strip_suffix('%') {
            (Decimal::parse(percent)?.0, 100 * ONE)
        } else {
            (Decimal::parse(text)?.0, ONE)
        };
        (bottom > 0 && 0 < top && top <= bottom).then(|| Self { text: text.to_owned(), top, bottom })
    }

    /// Compares `part / whole` with this share; `whole` must be positive.
    pub fn compare(&self, part: i128, whole: i128) -> Ordering {
        compare_ratios(part, whole, self.top, self.bottom)
    }
}

impl TryFrom<String> for Fraction {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text).ok_or_else(|| format!("`{text}` is no share above 0 and up to 1"))
    }
}

impl From<Fraction> for String {
    fn from(share: Fraction) -> Self {
        share.text
    }
}

impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Number for output: exact if it has at most six places, else rounded to six.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Score(Number);

impl Default for Score {
    fn default() -> Self {
        Self(0.into())
    }
}

impl Score {
    /// Returns `top / bottom`; `bottom` must be positive.
    pub fn ratio(top: i128, bottom: i128) -> Self {
        let (mut rest, mut of) = (top.rem_euclid(bottom), bottom);
        // Halving both keeps the six places of the output and prevents overflow.
        while of > i128::MAX / 1_000_000 {
            (rest, of) = (rest / 2, of / 2);
        }
        let parts = rest * 1_000_000;
        let rounded = parts / of + i128::from(parts % of > of / 2);
        let whole = top.div_euclid(bottom).saturating_mul(1_000_000);
        let text = Decimal(whole.saturating_add(rounded).saturating_mul(1_000_000)).to_string();
        let number = text.parse::<i64>().map(Number::from).ok();
        Self(number.or_else(|| Number::from_f64(text.parse().ok()?)).unwrap_or_else(|| 0.into()))
    }

    pub fn as_f64(&self) -> f64 {
        self.0.as_f64().unwrap_or(0.0)
    }

    /// Formats with at most two places, for people.
    pub fn rounded(&self) -> String {
        let text = format!("{:.2}", self.as_f64());
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    }
}

impl From<Decimal> for Score {
    fn from(amount: Decimal) -> Self {
        Self::ratio(amount.0, ONE)
    }
}

impl From<u64> for Score {
    fn from(number: u64) -> Self {
        Self(number.into())
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_parse_exactly_or_not_at_all() {
        for (text, shown) in [
            ("3", "3"),
            ("0.1", "0.1"),
            ("-2.50", "-2.5"),
            ("1e3", "1000"),
            ("1.5e-3", "0.0015"),
            ("7.0", "7"),
            (".5", "0.5"),
            ("0.1234567e1", "1.234567"),
        ] {
            assert_eq!(Decimal::parse(text).unwrap().to_string(), shown);
        }
        let too_many =
            "0.99999999999999999999 0.50000000000000000001 1000000000.00000001 1e-400 1e-7 0.1234567";
        for text in too_many.split(' ').chain(["", ".", "1e10", "x", "1 2", "--1", "1e999", "NaN"]) {
            assert_eq!(Decimal::parse(text), None, "{text}");
        }
        assert_eq!(Decimal::parse_cut("0.33333333333").unwrap().to_string(), "0.333333");
        assert_eq!(Decimal::parse_cut("1e-300"), Some(Decimal::ZERO));
    }

    #[test]
    fn ratios_compare_without_overflow() {
        let big = i128::MAX / 2;
        assert_eq!(compare_ratios(big, big - 1, big - 1, big - 2), Ordering::Less);
        assert_eq!(compare_ratios(2, 3, 6667, 10_000), Ordering::Less);
        assert_eq!(compare_ratios(-1, 3, -2, 6), Ordering::Equal);
        assert_eq!(Fraction::parse("2/3").unwrap().compare(4, 6), Ordering::Equal);
        assert_eq!(Fraction::parse("66.67%").unwrap().compare(2, 3), Ordering::Greater.reverse());
        for bad in ["0", "3/2", "1.1", "a", "1/0", "-1/2"] {
            assert_eq!(Fraction::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn scores_are_rounded_and_whole_numbers_stay_whole() {
        assert_eq!(Score::ratio(7, 2).to_string(), "3.5");
        assert_eq!(Score::ratio(1, 3).to_string(), "0.333333");
        assert_eq!(Score::ratio(2, 3).to_string(), "0.666667");
        assert_eq!(Score::ratio(-1, 2).to_string(), "-0.5");
        assert_eq!(Score::ratio(8, 2).to_string(), "4");
        assert_eq!(Score::ratio(i128::MAX, i128::MAX - 1).to_string(), "1");
        assert_eq!(Score::from(Decimal::parse("2.25").unwrap()).to_string(), "2.25");
        let text = serde_json::to_string(&Score::ratio(1, 3)).unwrap();
        assert_eq!(serde_json::from_str::<Score>(&text).unwrap(), Score::ratio(1, 3));
    }
}
