// Ends a gateway whose test was killed: with a closed standard output, Backstage
// would log that error forever.
process.once('disconnect', () => process.exit());
