/** A command of a document, and what the document says that it prints. */
export interface Example {
  readonly command: string;
  /** The line on which the command begins, from 1. */
  readonly line: number;
  readonly printed?: {
    /** `json`, `csv` or `text`. */
    readonly language: string;
    readonly text: string;
  };
}

const BLOCK = /^```(\w+)\n([^]*?)^```$/gm;

/**
 * The commands of a Markdown document: blocks of the language `sh`, each with
 * the block that follows it, when that is not another command.
 */
export function readExamples(document: string): readonly Example[] {
  const blocks = [...document.matchAll(BLOCK)].map(match => ({
    language: match[1],
    text: match[2].trimEnd(),
    line: document.slice(0, match.index).split('\n').length + 1,
  }));
  return blocks.flatMap(({ language, text, line }, index) => {
    const next = blocks.at(index + 1);
    const hasOutput = next && !['sh', 'console'].includes(next.language);
    return language === 'sh'
      ? [{ command: text, line, ...(hasOutput && { printed: next }) }]
      : [];
  });
}
