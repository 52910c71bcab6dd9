/** A table of Markdown that is also one for the eye; the first line is its head. */
export function markdownTable(lines: readonly (readonly string[])[]): string {
  const widths = lines[0].map((_, column) =>
    Math.max(...lines.map(line => line[column].length)),
  );
  const [head, ...body] = lines.map(
    line =>
      `| ${line.map((text, at) => text.padEnd(widths[at])).join(' | ')} |`,
  );
  const rule = `| ${widths.map(width => '-'.repeat(width)).join(' | ')} |`;
  return [head, rule, ...body].join('\n');
}
