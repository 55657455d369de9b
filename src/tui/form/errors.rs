//! What is wrong with a form, and with which of its fields.

use super::Form;

impl Form {
    /// Says what is wrong, under the field it names; the cursor goes there.
    pub fn refuse(&mut self, why: String) {
        self.error = Some(why);
        if let Some(at) = self.error_field() {
            self.at = at;
            self.show_cursor();
        }
    }

    /// The field that the error names by its id or label; none where it is about the whole form.
    pub fn error_field(&self) -> Option<usize> {
        let error = self.error.as_deref()?;
        let place = |name: &str| {
            let quoted = error.find(&format!("`{name}`"));
            let first = error.strip_prefix(name).filter(|rest| rest.starts_with([':', ' '])).map(|_| 0);
            let path = error.find(&format!(".{name}")).filter(|at| {
                !error[at + name.len() + 1..].starts_with(|next: char| next.is_alphanumeric() || next == '_')
            });
            [quoted, first, path].into_iter().flatten().min()
        };
        let named = self.fields.iter().enumerate().filter_map(|(at, field)| {
            let found = [field.id, field.label].into_iter().filter(|name| !name.is_empty()).filter_map(place);
            Some((found.min()?, at))
        });
        named.min().map(|(_, at)| at)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Field, FormKind};
    use super::*;

    #[test]
    fn an_error_leads_to_the_field_it_names() {
        let field = |id, label| Field::line(id, label, "", "");
        let mut form = Form {
            purpose: FormKind::Seats,
            title: String::new(),
            fields: vec![field("question", "question"), field("quorum", "quorum"), field("act_at", "act at")],
            at: 0,
            error: None,
            intro: String::new(),
            filled: String::new(),
            kept_as: String::new(),
        };
        for (error, field) in [
            ("`quorum` must be at most 3, not `9`", Some(1)),
            ("step `decide`: unknown value `x` of `act_at`", Some(2)),
            ("topic.yaml:3:1: steps[0].quorum: out of range", Some(1)),
            ("question: is empty", Some(0)),
            ("the disk is full", None),
            ("steps.quorum_ballots is odd", None),
        ] {
            form.refuse(error.to_owned());
            assert_eq!(form.error_field(), field, "{error}");
            assert!(field.is_none_or(|field| form.at == field), "{error}");
        }
    }
}
