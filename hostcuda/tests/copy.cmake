# Copies FOLDER to COPY anew each time, so that nothing left from an earlier run can help.
file(REMOVE_RECURSE ${COPY})
file(COPY ${FOLDER}/ DESTINATION ${COPY} PATTERN __pycache__ EXCLUDE PATTERN build EXCLUDE)
