/** A part of an answer that is written as JSON already. */
export class JsonText {
  readonly text: string;

  /** @param text - a JSON value */
  constructor(text: string) {
    this.text = text;
  }

  /** What writes the answer otherwise finds the value itself. */
  toJSON(): unknown {
    return JSON.parse(this.text);
  }
}

/** An answer's JSON; what is written already is taken as it is. */
export function writeJson(answer: unknown): string {
  if (answer instanceof JsonText) {
    return answer.text;
  }
  if (!hasJsonText(answer)) {
    return JSON.stringify(answer) ?? 'null';
  }
  if (Array.isArray(answer)) {
    return `[${answer.map(writeJson).join()}]`;
  }
  const members = Object.entries(answer)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${JSON.stringify(name)}:${writeJson(value)}`);
  return `{${members.join()}}`;
}

/** Whether there is some in a list, or in the members of an answer. */
function hasJsonText(answer: unknown): answer is object {
  return Array.isArray(answer)
    ? answer.some(isJsonText)
    : typeof answer === 'object' &&
        answer !== null &&
        Object.values(answer).some(
          value =>
            isJsonText(value) ||
            (Array.isArray(value) && value.some(isJsonText)),
        );
}

function isJsonText(value: unknown): value is JsonText {
  return value instanceof JsonText;
}
